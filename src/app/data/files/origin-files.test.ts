import { beforeEach, describe, expect, it, vi } from "vitest";
import { FakeLocks } from "../../../../test/support/fake-locks.ts";
import { FakeDisk } from "../../../../test/support/fake-origin.ts";
import { BlobFolderWriter } from "./blob-folder.ts";
import { isOriginFile, OriginFiles } from "./origin-files.ts";

let disk: FakeDisk;
let locks: FakeLocks;

/** What a thread of the page has. */
const thread = (): OriginFiles =>
  new OriginFiles({ getDirectory: async () => disk.handle }, locks.manager as LockManager);

async function kept(files: OriginFiles, ...parts: number[][]): Promise<File> {
  const sink = (await files.create())!;
  for (const part of parts) await sink.write(Uint8Array.from(part));
  const file = await sink.close();
  if (!isOriginFile(file)) throw new Error("not a file of the origin");
  return file;
}

const bytesOf = async (file: Blob | null) => file && [...new Uint8Array(await file.arrayBuffer())];
const names = (...files: File[]) => vi.fn(async () => new Set(files.map(({ name }) => name)));
const lies = async ({ name }: File) => (await disk.read(`kept-files/${name}`)) !== null;

beforeEach(() => {
  disk = new FakeDisk();
  locks = new FakeLocks();
});

describe("files in the origin's file system", () => {
  it("are read again by their names", async () => {
    const file = await kept(thread(), [1, 2], [3]);
    expect(await bytesOf(file)).toEqual([1, 2, 3]);
    expect(await bytesOf(await thread().open(file.name))).toEqual([1, 2, 3]);
    expect(await thread().open(`${file.name.slice(0, -1)}x`)).toBeNull();
    expect(isOriginFile(new File([], "model.safetensors"))).toBe(false);
  });

  it("are read in part, but for what another thread writes and what is not there", async () => {
    const file = await kept(thread(), [1, 2, 3]);
    expect(await thread().read(file.name, 1, 3)).toEqual(Uint8Array.of(2, 3));
    expect(await thread().read(file.name, 2, 5), "up to its end").toEqual(Uint8Array.of(3));
    const into = new Uint8Array(2);
    expect((await thread().read(file.name, 0, 2, into))?.buffer).toBe(into.buffer);
    expect(into).toEqual(Uint8Array.of(1, 2));
    const folder = await disk.handle.getDirectoryHandle("kept-files");
    const access = await (await folder.getFileHandle(file.name)).createSyncAccessHandle();
    expect(await thread().read(file.name, 1, 3)).toBeNull();
    access.close();
    expect(await thread().read("kept-0", 0, 1)).toBeNull();
  });

  it("create their folder to write, and never to read", async () => {
    const created = vi.spyOn(disk.handle, "getDirectoryHandle");
    const [reader, writer] = [thread(), thread()];
    expect([await reader.open("kept-0"), await reader.read("kept-0", 0, 1)]).toEqual([null, null]);
    await reader.sweep(names());
    const file = await kept(writer, [1, 2]);
    expect(await reader.read(file.name, 0, 2)).toEqual(Uint8Array.of(1, 2));
    expect(created.mock.calls.filter(([, how]) => how?.create)).toHaveLength(1);
  });

  it("are opened one at a time, and once for reads that overlap: of several at once Chromium may answer none", async () => {
    const files = [await kept(thread(), [1, 2]), await kept(thread(), [3, 4])];
    const folder = await disk.handle.getDirectoryHandle("kept-files");
    let [opening, most, opened] = [0, 0, 0];
    for (const { name } of files) {
      const handle = await folder.getFileHandle(name);
      const open = handle.createSyncAccessHandle.bind(handle);
      vi.spyOn(handle, "createSyncAccessHandle").mockImplementation(async (...how: []) => {
        opened += 1;
        opening += 1;
        most = Math.max(most, opening);
        await new Promise((resolve) => setTimeout(resolve, 1));
        opening -= 1;
        return open(...how);
      });
    }
    const reader = thread();
    const reads = [0, 1].flatMap((at) => files.map(({ name }) => reader.read(name, at, at + 1)));
    expect((await Promise.all(reads)).map((bytes) => bytes![0])).toEqual([1, 3, 2, 4]);
    expect([most, opened]).toEqual([1, 2]);
    for (const { name } of files)
      expect(((await folder.getFileHandle(name)) as unknown as { open: number }).open).toBe(0);
  });

  it("are read as files where the browser never answers an opening; one that comes late is closed", async () => {
    const file = await kept(thread(), [1, 2]);
    const handle = await (await disk.handle.getDirectoryHandle("kept-files")).getFileHandle(file.name);
    const open = handle.createSyncAccessHandle.bind(handle);
    let answer = (): void => {};
    const opened = vi.spyOn(handle, "createSyncAccessHandle").mockImplementation(async (...how: []) => {
      await new Promise<void>((resolve) => {
        answer = resolve;
      });
      return open(...how);
    });
    const reader = thread();
    vi.useFakeTimers();
    const reads = [reader.read(file.name, 0, 1), reader.read(file.name, 1, 2)];
    await vi.advanceTimersByTimeAsync(5000);
    vi.useRealTimers();
    expect(await Promise.all(reads)).toEqual([null, null]);
    expect(await reader.read(file.name, 0, 2)).toBeNull();
    expect(opened).toHaveBeenCalledOnce();
    answer();
    await vi.waitFor(() => expect(opened.mock.settledResults[0]?.type).toBe("fulfilled"));
    await new Promise((resolve) => setTimeout(resolve));
    expect((handle as unknown as { open: number }).open).toBe(0);
    opened.mockRestore();
    expect(await reader.read(file.name, 0, 2), "once it has answered").toEqual(Uint8Array.of(1, 2));
  });

  it("are read by one handle for as long as their thread has them, and by others beside", async () => {
    const worker = thread();
    const file = await kept(worker, [1, 2, 3]);
    const folder = await disk.handle.getDirectoryHandle("kept-files");
    const handle = (await folder.getFileHandle(file.name)) as unknown as { open: number };
    const opened = vi.spyOn(await folder.getFileHandle(file.name), "createSyncAccessHandle");
    const reads = await Promise.all([0, 1, 2].map((at) => worker.read(file.name, at, at + 1)));
    expect(reads).toEqual([1, 2, 3].map((byte) => Uint8Array.of(byte)));
    opened.mockClear();
    const into = new Uint8Array(2);
    expect((await worker.read(file.name, 1, 3, into))?.buffer).toBe(into.buffer);
    expect([[...into], opened.mock.calls.length, handle.open]).toEqual([[2, 3], 0, 1]);
    // A thread without a hold leaves nothing open.
    expect(await thread().read(file.name, 0, 1)).toEqual(Uint8Array.of(1));
    expect(handle.open).toBe(1);
    await worker.letGo([file]);
    expect(handle.open).toBe(0);
    await worker.sweep(names());
    expect(await lies(file)).toBe(false);
  });

  it("go when no record names them and no thread has them", async () => {
    const [worker, page, later] = [thread(), thread(), thread()];
    const [named, had, dropped, mine] = [
      await kept(worker, [1]),
      await kept(worker, [2]),
      await kept(worker, [3]),
      await kept(worker, [4]),
    ];
    await page.hold([had, new Blob()]);
    const all = [named, had, dropped, mine];
    await later.sweep(names(named));
    expect(await Promise.all(all.map(lies)), "the worker has them all").toEqual([true, true, true, true]);
    await worker.sweep(names(named), [had.name, dropped.name]);
    expect(await Promise.all(all.map(lies))).toEqual([true, true, false, true]);
    const again = await page.open(had.name);
    await page.letGo([had, new Blob()]);
    await later.sweep(names(named));
    expect(await lies(had), "it was opened again since").toBe(true);
    await page.letGo([again]);
    await later.sweep(names(named));
    expect(await Promise.all(all.map(lies))).toEqual([true, false, false, true]);
    expect(await bytesOf(mine)).toEqual([4]);
  });

  it("wait for the next sweep where they cannot be removed", async () => {
    const worker = thread();
    const file = await kept(worker, [1]);
    const folder = await disk.handle.getDirectoryHandle("kept-files");
    const refusing = vi
      .spyOn(folder, "removeEntry")
      .mockRejectedValueOnce(new DOMException("busy", "AbortError"));
    await worker.sweep(names(), [file.name]);
    expect([refusing.mock.calls.length, await lies(file)]).toEqual([1, true]);
    await thread().sweep(names());
    expect(await lies(file)).toBe(false);
  });

  it("stay while they are written, and when their record comes while others look", async () => {
    const worker = thread();
    const sink = (await worker.create())!;
    await sink.write(Uint8Array.of(1));
    await thread().sweep(names());
    const file = (await sink.close()) as File;
    expect(await lies(file)).toBe(true);
    const named = names();
    named.mockResolvedValueOnce(new Set()).mockResolvedValueOnce(new Set([file.name]));
    await worker.sweep(named, [file.name]);
    expect(named).toHaveBeenCalledTimes(2);
    expect(await lies(file)).toBe(true);
  });

  it("leave nothing where there is no room for them", async () => {
    disk.quota = 3 * 2 ** 20;
    const files = thread();
    const writer = new BlobFolderWriter(
      "student",
      async (_, part) => part,
      () => files.create(),
    );
    await writer.write("config.json", [new Uint8Array(7)]);
    expect(disk.used, "small files need none").toBe(0);
    await writer.write("model.safetensors", [new Uint8Array(2 ** 21).fill(5)]);
    expect(disk.used).toBe(2 ** 21);
    const second = writer.write("optimizer.safetensors", [new Uint8Array(2 ** 21)]);
    await expect(second).rejects.toThrow("full");
    await writer.abort();
    expect(locks.held).toEqual([]);
    const left = [];
    for await (const { name } of (await disk.handle.getDirectoryHandle("kept-files")).values())
      left.push(name);
    expect(left).toEqual([]);
  });

  it("are none where a browser has no place for them", async () => {
    const refusing = async () => {
      throw new DOMException("a private window", "SecurityError");
    };
    const without = [
      new OriginFiles(undefined, locks.manager as LockManager),
      new OriginFiles({ getDirectory: async () => disk.handle }, undefined),
      new OriginFiles({ getDirectory: refusing }, locks.manager as LockManager),
    ];
    for (const files of without) {
      expect(await files.create()).toBeNull();
      expect(await files.open("kept-0")).toBeNull();
      await files.sweep(names());
    }
  });
});
