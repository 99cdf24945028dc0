import { mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, it } from "vitest";
import { type Fault, FileFaults } from "../../test/support/file-faults.ts";
import { InputError } from "../core/errors.ts";
import { AppendFile } from "./append-file.ts";
import { makeFolder, temporaryName, writeWhole, writeWholeSync } from "./whole-file.ts";

let faults: FileFaults;
let folder: string;
beforeAll(async () => {
  faults = await FileFaults.install();
});
afterAll(() => faults.restore());
beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), "gcopd-whole-"));
});
afterEach(() => {
  faults.disarm();
  rmSync(folder, { recursive: true });
});

const OLD = "what stood there before\n";
const NEW = "what is new\n".repeat(100);
const chunks = () => [NEW.slice(0, 5), NEW.slice(5)].map((text) => new TextEncoder().encode(text));

/** Runs `work` once for each operation that it does and each fault that the operation can have. */
async function eachFault(
  prepare: () => void,
  work: () => unknown,
  check: (error: unknown, fault: Fault, operation: string) => void,
): Promise<Set<Fault>> {
  prepare();
  faults.arm(folder);
  await work();
  faults.disarm();
  const all = faults.operations.flatMap(({ faults: allowed }, at) => allowed.map((fault) => ({ at, fault })));
  for (const { at, fault } of all) {
    rmSync(folder, { recursive: true });
    prepare();
    faults.arm(folder, at, fault);
    const error = await Promise.resolve()
      .then(work)
      .then(
        () => null,
        (thrown: unknown) => thrown,
      );
    faults.disarm();
    expect(faults.injected).not.toBeNull();
    check(error, fault, faults.injected!.name);
  }
  return new Set(all.map(({ fault }) => fault));
}

function fresh(): void {
  folder = mkdtempSync(join(tmpdir(), "gcopd-whole-"));
}

describe.each([
  ["writeWhole", () => writeWhole(join(folder, "file"), chunks())],
  ["writeWholeSync", () => writeWholeSync(join(folder, "file"), NEW)],
] as const)("%s", (_, work) => {
  it("leaves the old file or the new one, whole, after any fault, and nothing beside it", async () => {
    const seen = await eachFault(
      () => {
        fresh();
        writeFileSync(join(folder, "file"), OLD);
      },
      work,
      (error, fault, operation) => {
        const text = readFileSync(join(folder, "file"), "utf8");
        expect(readdirSync(folder)).toEqual(["file"]);
        if (fault === "short") expect({ error, text }).toEqual({ error: null, text: NEW });
        else {
          expect(error, operation).toBeInstanceOf(InputError);
          expect((error as Error).message, operation).toMatch(/^[^\n]*(file|gcopd-whole-\w+): [^\n]+$/);
          expect([OLD, NEW]).toContain(text);
        }
      },
    );
    expect(seen).toEqual(new Set(["short", "full", "EIO", "ENOSPC", "EMFILE"]));
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
    let confirmed: string[] = [];
    const seen = await eachFault(
      () => {
        fresh();
        writeFileSync(join(folder, "lines"), "before\n");
        confirmed = ["before\n"];
      },
      () => {
        const file = new AppendFile(join(folder, "lines"));
        let fault: unknown = null;
        for (const line of ["one\n", "two, which is longer\n", "three\n"]) {
          try {
            file.append(line);
            confirmed.push(line);
          } catch (error) {
            fault = error;
          }
        }
        file.sync();
        file.close();
        if (fault !== null) throw fault;
      },
      (error, fault) => {
        const text = readFileSync(join(folder, "lines"), "utf8");
        // A disk that stays full may refuse to cut back, too; readers drop a last line without its end.
        const whole = fault === "full" ? text.slice(0, text.lastIndexOf("\n") + 1) : text;
        expect(whole).toBe(confirmed.join(""));
        if (fault === "short") expect(error).toBeNull();
        else expect(error).toBeInstanceOf(InputError);
      },
    );
    expect(seen).toEqual(new Set(["short", "full", "EIO", "ENOSPC", "EMFILE"]));
  });

  it("cuts a part of an append off before the next one where it could not at once", () => {
    const path = join(folder, "lines");
    // Operations: open, look at the length, two appends.
    faults.arm(folder, 3, "full");
    const file = new AppendFile(path);
    file.append("first\n");
    expect(() => file.append("second\n")).toThrow("no space left on the device");
    expect(readFileSync(path, "utf8")).toBe("first\nseco");
    faults.disarm();
    file.append("third\n");
    file.close();
    expect(readFileSync(path, "utf8")).toBe("first\nthird\n");
  });
});
