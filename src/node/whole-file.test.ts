import { mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterEach, beforeEach, describe, expect, it, vi } from "vitest";
import { armFault, disarmFault, eachFault } from "../../test/support/io-faults.ts";
import { InputError } from "../core/errors.ts";
import { AppendFile } from "./append-file.ts";
import { makeFolder, temporaryName, writeWhole, writeWholeSync } from "./whole-file.ts";

const { faultyFs, faultyPromises } = await vi.hoisted(() => import("../../test/support/io-faults.ts"));
vi.mock("node:fs", async (real) => faultyFs(await real<object>()));
vi.mock("node:fs/promises", async (real) => faultyPromises(await real<object>()));

let folder: string;
const concerns = (path: string) => path.startsWith(folder);
beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), "gcopd-whole-"));
});
afterEach(() => {
  disarmFault();
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
    disarmFault();
  }
}

const oneLine = expect.objectContaining({ message: expect.stringMatching(/^[^\n]+: [^\n]+$/) });

describe.each([
  ["writeWhole", () => writeWhole(join(folder, "file"), chunks())],
  ["writeWholeSync", () => writeWholeSync(join(folder, "file"), NEW)],
] as const)("%s", (_, work) => {
  it("leaves the old file or the new one, whole, after any fault, and nothing beside it", async () => {
    writeFileSync(join(folder, "file"), OLD);
    const met = await eachFault(
      () => concerns,
      async (fault, nth) => {
        disarmFault();
        writeFileSync(join(folder, "file"), OLD);
        armFault(fault, { nth, concerns });
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
      },
    );
    for (const operations of Object.values(met)) expect(operations.length).toBeGreaterThan(0);
  });

  it("keeps the old file when the disk becomes full in the midst of it", async () => {
    writeFileSync(join(folder, "file"), OLD);
    armFault("short", { afterwards: "ENOSPC", concerns });
    const error = await thrown(work);
    expect(error).toEqual(
      expect.objectContaining({ message: expect.stringContaining("no space left on the device") }),
    );
    expect(readFileSync(join(folder, "file"), "utf8")).toBe(OLD);
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
  it("holds whole appends only, whatever fault comes", async () => {
    const path = join(folder, "lines");
    await eachFault(
      () => concerns,
      async (fault, nth) => {
        disarmFault();
        writeFileSync(path, "before\n");
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
        armFault(fault, { nth, concerns });
        const file = tried(() => new AppendFile(path)) as AppendFile | undefined;
        for (const line of ["one\n", "two, which is longer\n", "three\n"])
          tried(() => {
            file?.append(line);
            if (file !== undefined) confirmed.push(line);
          });
        tried(() => file?.sync());
        tried(() => file?.close());
        disarmFault();
        expect(readFileSync(path, "utf8")).toBe(confirmed.join(""));
        for (const error of errors) expect(error).toBeInstanceOf(InputError);
        if (fault === "short") expect(errors).toEqual([]);
      },
    );
  });

  it("cuts a part of an append off before the next one where it could not at once", () => {
    const path = join(folder, "lines");
    const file = new AppendFile(path);
    file.append("first\n");
    armFault("short", { afterwards: "ENOSPC", concerns });
    expect(() => file.append("second\n")).toThrow("no space left on the device");
    disarmFault();
    expect(readFileSync(path, "utf8")).toBe("first\nseco");
    file.append("third\n");
    file.close();
    expect(readFileSync(path, "utf8")).toBe("first\nthird\n");
  });
});
