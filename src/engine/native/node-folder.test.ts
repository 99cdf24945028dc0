import { mkdirSync, rmSync, symlinkSync } from "node:fs";
import { mkdtemp, readdir, readFile, rm, symlink, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join, relative } from "node:path";
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, test } from "vitest";
import { FAULTED } from "../../../test/support/faulted-modules.ts";
import { FileFaults } from "../../../test/support/file-faults.ts";
import { InputError } from "../../core/errors.ts";
import { createFolder, openFolder } from "./node-folder.ts";

let root = "";
beforeEach(async () => {
  root = await mkdtemp(join(tmpdir(), "gcopd-folder-"));
});
afterEach(async () => rm(root, { recursive: true }));

const bytes = (text: string) => [new TextEncoder().encode(text)];

test("a folder appears whole on commit", async () => {
  const path = join(root, "deep", "model");
  const writer = createFolder(path);
  await writer.write("a.txt", bytes("hello"));
  await writer.write(
    "b.txt",
    (async function* () {
      yield* bytes("one ");
      yield* bytes("two");
    })(),
  );
  expect(() => openFolder(path)).toThrow(InputError);
  await writer.commit();
  expect(await readdir(join(root, "deep"))).toEqual(["model"]);
  const folder = openFolder(path);
  expect(await folder.list()).toEqual(["a.txt", "b.txt"]);
  expect(await folder.size("b.txt")).toBe(7);
  expect(new TextDecoder().decode(await folder.read("b.txt", 2, 6))).toBe("e tw");
  await expect(folder.read("b.txt", 2, 9)).rejects.toThrow("the file ends at byte 7, expected 9");
  await expect(folder.size("c.txt")).rejects.toThrow("c.txt: no such file");
  await expect(writer.write("late", [])).rejects.toThrow("already committed or aborted");
});

test("nothing stays behind after abort or a failed write", async () => {
  const writer = createFolder(join(root, "model"));
  await writer.write("a.txt", bytes("hello"));
  const failing = (function* () {
    yield* bytes("half");
    throw new Error("no more");
  })();
  await expect(writer.write("b.txt", failing)).rejects.toThrow("no more");
  await writer.abort();
  expect(await readdir(root)).toEqual([]);
  const unused = createFolder(join(root, "other"));
  await unused.abort();
  expect(await readdir(root)).toEqual([]);
});

test("an existing folder is kept unless it is to be replaced", async () => {
  const path = join(root, "model");
  const first = createFolder(path);
  await first.write("a.txt", bytes("first"));
  await first.commit();
  await expect(createFolder(path).write("a.txt", bytes("x"))).rejects.toThrow(
    "already exists and is not empty",
  );
  const second = createFolder(path, { replace: true });
  await second.write("b.txt", bytes("second"));
  expect(await readFile(join(path, "a.txt"), "utf8")).toBe("first");
  await second.commit();
  expect(await readdir(path)).toEqual(["b.txt"]);
  expect(await readdir(root)).toEqual(["model"]);
});

test("wrong places and names", async () => {
  expect(() => openFolder(join(root, "none"))).toThrow("none: no such folder");
  await writeFile(join(root, "file"), "x");
  expect(() => openFolder(join(root, "file"))).toThrow("expected a folder, this is a file");
  await expect(createFolder(join(root, "file")).write("a", [])).rejects.toThrow("this is a file");
  await expect(createFolder(join(root, "m")).write("../a", [])).rejects.toThrow("not a plain file name");
});

test("links to files count as files", async () => {
  await writeFile(join(root, "file"), "x");
  await symlink(join(root, "file"), join(root, "link"));
  await symlink(join(root, "gone"), join(root, "broken"));
  expect(await openFolder(root).list()).toEqual(["file", "link"]);
});

test("a folder gets its name once all is on the disk, and the name is put there too", async () => {
  const faults = await FileFaults.install();
  try {
    faults.arm(root);
    const writer = createFolder(join(root, "model"));
    await writer.write("a.txt", bytes("hello"));
    await writer.commit();
  } finally {
    faults.restore();
  }
  const order = faults.operations
    .filter(({ name }) => name === "handle.sync" || name === "rename")
    .map(({ name, path }) => `${name} ${relative(root, path).replace(/\..*\.part/, "part")}`);
  expect(order).toEqual(["handle.sync part/a.txt", "handle.sync part", "rename part", "handle.sync "]);
});

describe("each operation of a disk goes wrong once", () => {
  let files: FileFaults;
  beforeAll(async () => {
    files = await FileFaults.install();
  });
  afterAll(() => files.restore());

  const begin = () => {
    rmSync(root, { recursive: true });
    mkdirSync(join(root, "model"), { recursive: true });
    return root;
  };
  /** What a folder holds. */
  const contents = async (path: string): Promise<string[][]> => {
    const folder = openFolder(path);
    const names = await folder.list();
    return Promise.all(
      names.map(async (name) => [
        name,
        new TextDecoder().decode(await folder.read(name, 0, await folder.size(name))),
      ]),
    );
  };

  test.each(["short", "EIO", "ENOSPC", "EMFILE"] as const)(
    "%s: a folder is the old one or the new one, whole, and is read as it is or not at all",
    async (fault) => {
      const path = join(root, "model");
      await files.each(fault, begin, async () => {
        const write = async (text: string, replace: boolean) => {
          const writer = createFolder(path, { replace });
          try {
            await writer.write("a", bytes(text));
            await writer.commit();
          } catch (error) {
            await writer.abort();
            throw error;
          }
        };
        const failed: unknown[] = [];
        const noted = (error: unknown) => void failed.push(error);
        await write("old", false).catch(noted);
        if (failed.length === 0) {
          await write("new", true).catch(noted);
          files.aside(() => symlinkSync("a", join(path, "b")));
        }
        const read = await contents(path).catch(noted);
        files.disarm();
        for (const error of failed) expect(error).toBeInstanceOf(InputError);
        if (fault === "short") expect(failed).toEqual([]);
        const found = await contents(path);
        if (read !== undefined) expect(read).toEqual(found);
        const whole = (text: string) => [
          ["a", text],
          ["b", text],
        ];
        expect([[], [["a", "old"]], whole("old"), whole("new")]).toContainEqual(found);
        if (failed.length === 0) expect(found).toEqual(whole("new"));
        expect((await readdir(root)).filter((name) => !name.endsWith(".old"))).toEqual(["model"]);
      });
    },
  );

  test("every call of the file system in these modules went wrong", () => {
    expect(files.unreached(FAULTED["src/engine/native/node-folder.test.ts"])).toEqual([]);
  });
});
