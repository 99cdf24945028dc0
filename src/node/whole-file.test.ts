import { mkdirSync, mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, it, vi } from "vitest";
import { FAULTED } from "../../test/support/faulted-modules.ts";
import { FileFaults } from "../../test/support/file-faults.ts";
import { InputError } from "../core/errors.ts";
import { AppendFile } from "./append-file.ts";
import { passingFault } from "./file-error.ts";
import {
  inTemporaryFolder,
  makeFolder,
  removeMadeFolder,
  removeTemporaries,
  temporaryName,
  writeWhole,
  writeWholeSync,
} from "./whole-file.ts";

const FAULTS = ["short", "EIO", "ENOSPC", "EMFILE"] as const;

let files: FileFaults;
let folder: string;
beforeAll(async () => {
  files = await FileFaults.install();
});
afterAll(() => files.restore());
beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), "gcopd-whole-"));
});
afterEach(() => {
  files.disarm();
  rmSync(folder, { recursive: true });
});

const OLD = "what stood there before\n";
const NEW = "what is new\n".repeat(100);
const chunks = () => [NEW.slice(0, 5), NEW.slice(5)].map((text) => new TextEncoder().encode(text));

/** What `work` throws, or null; without faults afterwards. */
async function thrown(work: () => unknown): Promise<unknown> {
  try {
    await work();
    return null;
  } catch (error) {
    return error;
  } finally {
    files.disarm();
  }
}

/** A folder in which a file stands. */
function standing(name: string, text: string): () => string {
  return () => {
    writeFileSync(join(folder, name), text);
    return folder;
  };
}

const oneLine = expect.objectContaining({ message: expect.stringMatching(/^[^\n]+: [^\n]+$/) });

describe.each([
  ["writeWhole", () => writeWhole(join(folder, "file"), chunks())],
  ["writeWholeSync", () => writeWholeSync(join(folder, "file"), NEW)],
] as const)("%s", (_, work) => {
  it.each(FAULTS)(
    "leaves the old file or the new one, whole, after %s, and nothing beside it",
    async (fault) => {
      const met = await files.each(fault, standing("file", OLD), async () => {
        const error = await thrown(work);
        const text = readFileSync(join(folder, "file"), "utf8");
        expect(readdirSync(folder)).toEqual(["file"]);
        if (error === null) expect(text).toBe(NEW);
        else {
          expect(error).toBeInstanceOf(InputError);
          expect(error).toEqual(oneLine);
          expect([OLD, NEW]).toContain(text);
        }
        if (fault === "short") expect(error).toBeNull();
      });
      expect(met.length).toBeGreaterThan(0);
    },
  );

  it("gives the file its name once it is on the disk, and puts the name there too", async () => {
    files.arm(folder);
    await work();
    const done = files.operations.map(
      ({ name, path }) => `${name.replace(/^handle\.|Sync$/g, "")} ${path.endsWith(".part") ? "part" : path}`,
    );
    const order = done
      .filter((line) => /^(sync|fsync|write|rename) /.test(line))
      .map((line) => line.replace("fsync", "sync"));
    expect(order.slice(-4)).toEqual(["write part", "sync part", "rename part", `sync ${folder}`]);
  });

  it("keeps the old file when the disk becomes full in the midst of it", async () => {
    const errors: unknown[] = [];
    await files.each("full", standing("file", OLD), async () => {
      const error = await thrown(work);
      if (error !== null) errors.push(error);
      expect(readFileSync(join(folder, "file"), "utf8")).toBe(error === null ? NEW : OLD);
    });
    const full = { message: expect.stringContaining("no space left on the device") };
    expect(errors).toContainEqual(expect.objectContaining(full));
  });
});

describe("writes under a name of the caller's own", () => {
  it("take over what a killed write left there", async () => {
    const path = join(folder, "file");
    const temporary = `${path}.part`;
    for (const write of [
      () => writeWholeSync(path, NEW, { temporary }),
      () => writeWhole(path, [new TextEncoder().encode(NEW)], { temporary }),
    ]) {
      writeFileSync(temporary, "x".repeat(10_000));
      await write();
      expect(readFileSync(path, "utf8")).toBe(NEW);
      expect(readdirSync(folder)).toEqual(["file"]);
    }
  });
});

it("no two temporary names are the same", () => {
  const names = new Set(Array.from({ length: 1000 }, () => temporaryName("/a/file")));
  expect(names.size).toBe(1000);
});

it("an error of the chunks' own making stays what it is", async () => {
  const failing = (function* () {
    yield new Uint8Array(3);
    throw new TypeError("mine");
  })();
  await expect(writeWhole(join(folder, "file"), failing)).rejects.toThrow(TypeError);
  expect(readdirSync(folder)).toEqual([]);
});

it("makes folders and says which is the outermost", async () => {
  expect(await makeFolder(join(folder, "a", "b", "c"))).toBe(join(folder, "a"));
  expect(await makeFolder(join(folder, "a", "b", "c"))).toBeUndefined();
});

describe("AppendFile", () => {
  it.each(FAULTS)("holds whole appends only, whatever fault comes: %s", async (fault) => {
    const path = join(folder, "lines");
    await files.each(fault, standing("lines", "before\n"), () => {
      const confirmed = ["before\n"];
      const errors: unknown[] = [];
      const tried = (work: () => unknown) => {
        try {
          return work();
        } catch (error) {
          errors.push(error);
          return undefined;
        }
      };
      const file = tried(() => new AppendFile(path)) as AppendFile | undefined;
      for (const line of ["one\n", "two, which is longer\n", "three\n"])
        tried(() => {
          file?.append(line);
          if (file !== undefined) confirmed.push(line);
        });
      tried(() => file?.sync());
      tried(() => file?.close());
      files.disarm();
      expect(readFileSync(path, "utf8")).toBe(confirmed.join(""));
      for (const error of errors) expect(error).toBeInstanceOf(InputError);
      if (fault === "short") expect(errors).toEqual([]);
    });
  });

  it("cuts a part of an append off before the next one where it could not at once", () => {
    const path = join(folder, "lines");
    files.arm(folder);
    const file = new AppendFile(path);
    file.append("first\n");
    files.arm(folder, 0, "full");
    expect(() => file.append("second\n")).toThrow("no space left on the device");
    files.disarm();
    expect(readFileSync(path, "utf8")).toBe("first\nseco");
    file.append("third\n");
    file.close();
    expect(readFileSync(path, "utf8")).toBe("first\nthird\n");
  });
});

it("what killed writes left is removed, and nothing else", async () => {
  for (const name of ["a.json", ".hidden", "b.part", ".c.json.part"]) writeFileSync(join(folder, name), "");
  writeFileSync(temporaryName(join(folder, "a.json")), "half");
  await removeTemporaries(folder);
  expect(readdirSync(folder).sort()).toEqual([".c.json.part", ".hidden", "a.json", "b.part"]);
});

it.each(FAULTS)(
  "a folder is made and what killed writes left in it is removed in another try after %s",
  async (fault) => {
    const begin = () => {
      rmSync(folder, { recursive: true });
      mkdirSync(folder);
      return folder;
    };
    const work = async () => {
      const inner = join(folder, "a", "b");
      await makeFolder(inner);
      files.aside(() => writeFileSync(temporaryName(join(inner, "c")), "half"));
      await removeTemporaries(inner);
    };
    await files.each(fault, begin, async () => {
      const error = await thrown(work);
      if (error !== null) expect(error).toBeInstanceOf(InputError);
      if (error !== null) expect(error).toEqual(oneLine);
      await work();
      expect(readdirSync(join(folder, "a", "b"))).toEqual([]);
    });
  },
);

it("a folder that was made goes with those above it that are empty then, whatever comes", async () => {
  const [made, first] = [join(folder, "a"), join(folder, "a", "b", "first")];
  for (const [others, left] of [
    [["second"], ["a"]],
    [[], []],
  ]) {
    const begin = () => {
      for (const name of ["first", ...others!]) mkdirSync(join(made, "b", name), { recursive: true });
      writeFileSync(join(first, "file"), OLD);
      return folder;
    };
    const met = await files.each("EIO", begin, async () => {
      const error = await thrown(() => removeMadeFolder(first, made));
      if (error !== null) expect(error).toEqual(oneLine);
      if (others!.length > 0) expect(readdirSync(join(made, "b"))).toContain("second");
    });
    expect(met.length).toBeGreaterThan(1);
    begin();
    await removeMadeFolder(first, made);
    expect(readdirSync(folder)).toEqual(left);
    rmSync(made, { recursive: true, force: true });
  }
});

it.each(FAULTS)("what was found in a temporary folder counts, whatever comes: %s", async (fault) => {
  vi.stubEnv("TMPDIR", folder);
  const begin = () => {
    for (const name of readdirSync(folder)) rmSync(join(folder, name), { recursive: true });
    return folder;
  };
  await files.each(fault, begin, async () => {
    let found: string[] | null = null;
    const error = await thrown(async () => {
      found = await inTemporaryFolder("work-", async (inner) => files.aside(() => readdirSync(inner)));
    });
    expect(found === null).toBe(error !== null);
    if (error !== null) expect(passingFault(error)).not.toBeNull();
  });
  begin();
  const mine = new TypeError("mine");
  await expect(inTemporaryFolder("work-", () => Promise.reject(mine))).rejects.toBe(mine);
  expect(readdirSync(folder)).toEqual([]);
  vi.unstubAllEnvs();
});

it("every call of the file system in these modules went wrong", () => {
  expect(files.unreached(FAULTED["src/node/whole-file.test.ts"])).toEqual([]);
});
