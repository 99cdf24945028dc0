import { afterEach, beforeEach, describe, expect, it, vi } from "vitest";
import { CHECKPOINT_FORMAT, type CheckpointState } from "../../../../core/loop/index.ts";
import { BlobFolderWriter, blobFolder, PART } from "../../../data/files/blob-folder.ts";
import { fileWorkers, fileWorkersOf } from "../../../data/files/file-workers.ts";
import type { FileAnswer, FileAsk } from "../../../data/files/internal/file.worker.ts";
import type { KeptCheckpoint } from "./page-archive.ts";
import { keepRunCheckpoint, newestCheckpoint, WrittenDigests } from "./run-checkpoints.ts";

type Kept = Omit<KeptCheckpoint, "files"> & { files: Map<string, Blob> };
const archive = vi.hoisted(() => ({ kept: null as unknown }));
vi.mock("./page-archive.ts", () => ({
  openFiles: async (files: KeptCheckpoint["files"]) => new Map(files),
  keepCheckpoint: async (checkpoint: Kept) => {
    archive.kept = checkpoint;
  },
  keptCheckpointsOf: async () => [archive.kept],
}));

/** What digest workers do with an ask: the worker's own script, run here. */
type Script = (event: { data: FileAsk }) => Promise<void>;
let script: Script;
/** One worker's script runs at a time, since they all answer by the same global function. */
let turn: Promise<unknown>;
/** Those that run, and the most asks that were open at the same time. */
let alive: Set<FakeWorker>;
let most: number;
let open: number;
let asked: FileAsk[];
/** What becomes of the ask of a number, counted over all workers; they answer where nothing else is said. */
let fate: (ask: number) => "answers" | "dies" | "cannot";

class FakeWorker {
  onmessage: (event: { data: FileAnswer }) => void = () => {};
  onerror: (event: Event) => void = () => {};

  constructor(readonly url: string) {
    alive.add(this);
  }
  postMessage(message: FileAsk, transfer: Transferable[]): void {
    // As in a browser, transferred bytes are gone here.
    const data = structuredClone(message, { transfer });
    most = Math.max(most, ++open);
    const what = fate(asked.push(data));
    turn = turn.then(async () => {
      let answer: FileAnswer | undefined;
      vi.stubGlobal("postMessage", (given: FileAnswer, options: { transfer: Transferable[] }) => {
        answer = structuredClone(given, options);
      });
      if (what !== "dies") await script({ data });
      open -= 1;
      if (!alive.has(this)) return;
      if (what === "dies") this.onerror(new Event("error"));
      else this.onmessage({ data: what === "cannot" ? { ...answer!, sha256: null } : answer! });
    });
  }
  terminate(): void {
    alive.delete(this);
  }
}

beforeEach(async () => {
  vi.useFakeTimers({ toFake: ["setTimeout", "clearTimeout"] });
  vi.stubGlobal("location", new URL("http://localhost/"));
  vi.stubGlobal("Worker", FakeWorker);
  vi.stubGlobal("addEventListener", (_: "message", listener: Script) => {
    script = listener;
  });
  vi.resetModules();
  await import("../../../data/files/internal/file.worker.ts");
  [turn, alive, most, open, asked, fate] = [Promise.resolve(), new Set(), 0, 0, [], () => "answers"];
});

afterEach(async () => {
  await turn;
  vi.runAllTimers();
  expect(alive.size, "workers that are left behind").toBe(0);
  vi.useRealTimers();
  vi.unstubAllGlobals();
});

const SIZES = [0, 5, PART, PART + 5];
const bytes = new Uint8Array(SIZES.at(-1)!).map((_, n) => n ^ (n >> 8) ^ (n >> 16));

async function keep(digests: WrittenDigests, sizes = SIZES): Promise<string> {
  const writer = new BlobFolderWriter("step 1", digests.add);
  for (const size of sizes) await writer.write(`file-${size}`, [bytes.subarray(0, size)]);
  await writer.commit();
  const position = { stage: 0, epoch: 0, batch: 1 };
  const state: CheckpointState = { format: CHECKPOINT_FORMAT, step: 1, position, fingerprint: {} };
  await keepRunCheckpoint("page-000000000000", state, writer.folder!, digests);
  return (archive.kept as Kept).files.get("manifest.json")!.text();
}

const find = () => newestCheckpoint("page-000000000000");

describe("a model's own files", () => {
  const whole = bytes.subarray(0, 3 * 2 ** 20);
  const files = new Map<string, Blob>([["model.safetensors", new Blob([whole])]]);
  const read = (start: number, end: number, into?: Uint8Array<ArrayBuffer>) =>
    blobFolder({ name: "model", files }).read("model.safetensors", start, end, into);

  it("are read by several workers where ranges are large", async () => {
    fileWorkers.size = 2;
    const ranges = [0, 1, 2].map((n) => [n * 2 ** 20, (n + 1) * 2 ** 20] as const);
    const parts = await Promise.all(ranges.map(([start, end]) => read(start, end)));
    for (const [n, [start, end]] of ranges.entries()) expect(parts[n]).toEqual(whole.slice(start, end));
    expect([asked.length, most]).toEqual([3, 2]);
    expect(await read(5, 9)).toEqual(whole.slice(5, 9));
    expect(asked).toHaveLength(3);
  });

  it.each([0, 2])("are read by the calling thread where no worker does it (%i)", async (size) => {
    fate = () => "dies";
    fileWorkers.size = size;
    expect(await read(0, 2 ** 20)).toEqual(whole.slice(0, 2 ** 20));
    expect([fileWorkers.size, asked.length]).toEqual([0, size === 0 ? 0 : 1]);
    await expect(read(2 ** 21, 2 ** 22)).rejects.toThrow("model/model.safetensors: ends at byte 3145728");
  });
});

describe("digests by several workers", () => {
  it("leave a core to the thread that asks, which computes them itself where there are one or two", () => {
    expect([1, 2, 3, 4, 16].map(fileWorkersOf)).toEqual([0, 0, 2, 3, 4]);
  });

  it("are those that the calling thread computes, of what is written and of what is read back", async () => {
    fileWorkers.size = 0;
    const manifest = await keep(new WrittenDigests());
    expect(asked).toEqual([]);
    fileWorkers.size = 2;
    expect((await find())?.state.step).toBe(1);
    // All parts of files that are worth a worker.
    expect(asked.map((ask) => "file" in ask && ask.end - ask.start)).toEqual([PART, PART, 5]);
    expect(await keep(new WrittenDigests())).toBe(manifest);
    expect([most, alive.size]).toEqual([2, 2]);
    // Without those that were taken while it was written.
    fileWorkers.size = 0;
    expect((await find())?.state.step).toBe(1);
  });

  it("go on in the bytes of parts that are done", async () => {
    fileWorkers.size = 1;
    const digests = new WrittenDigests();
    expect(await digests.add("a", bytes.slice(0, PART)), "new ones").toBeUndefined();
    expect((await digests.add("a", bytes.slice(0, PART)))?.length).toBe(PART);
    const small = bytes.slice(0, 3);
    expect(await digests.add("b", small), "it went to no worker").toBe(small);
    expect(most).toBe(1);
    await digests.of("a");
  });

  it.each([0, 3])("find a part that is damaged, with %i workers", async (size) => {
    fileWorkers.size = size;
    await keep(new WrittenDigests(), [PART + 5]);
    const { files } = archive.kept as Kept;
    const name = `file-${PART + 5}`;
    const file = files.get(name)!;
    const middle = PART + 2;
    files.set(name, new Blob([file.slice(0, middle), Uint8Array.of(1), file.slice(middle + 1)]));
    await expect(find()).rejects.toThrow(`${name} does not have the SHA-256`);
  });

  it.each<[string, (ask: number) => "answers" | "dies" | "cannot", number]>([
    ["dies", (ask) => (ask === 2 ? "dies" : "answers"), 0],
    ["cannot start", () => "dies", 0],
    ["cannot read a part", (ask) => (ask === 2 ? "cannot" : "answers"), 2],
  ])("are computed by the calling thread where a worker %s", async (_, ends, size) => {
    fileWorkers.size = 0;
    const manifest = await keep(new WrittenDigests());
    fate = ends;
    fileWorkers.size = 2;
    expect(await keep(new WrittenDigests()), "written").toBe(manifest);
    expect([fileWorkers.size, asked.length > 0]).toEqual([size, true]);
    asked = [];
    fileWorkers.size = 2;
    expect((await find())?.state.step, "read back").toBe(1);
    expect([fileWorkers.size, asked.length > 0]).toEqual([size, true]);
  });

  it("are computed by the calling thread where the browser starts no worker", async () => {
    vi.stubGlobal("Worker", undefined);
    fileWorkers.size = 2;
    await keep(new WrittenDigests(), [PART + 1]);
    expect(fileWorkers.size).toBe(0);
    fileWorkers.size = 2;
    expect((await find())?.state.step).toBe(1);
    expect(fileWorkers.size).toBe(0);
  });

  it("of writing that ends early leave no worker behind", async () => {
    fileWorkers.size = 2;
    const digests = new WrittenDigests();
    const writer = new BlobFolderWriter("step 1", digests.add);
    function* lost(): Generator<Uint8Array> {
      yield bytes.subarray(0, PART + 1);
      throw new Error("the device was lost");
    }
    await expect(writer.write("model", lost())).rejects.toThrow("the device was lost");
    await writer.abort();
    expect(alive.size).toBe(1);
  });
});
