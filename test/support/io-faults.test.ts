import {
  closeSync,
  createWriteStream,
  existsSync,
  mkdtempSync,
  openSync,
  readFileSync,
  readSync,
  rmSync,
  writeFileSync,
  writeSync,
} from "node:fs";
import { open, readFile, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { pipeline } from "node:stream/promises";
import { afterEach, beforeEach, expect, it, vi } from "vitest";
import { armFault, disarmFault, eachFault } from "./io-faults.ts";

const { faultyFs, faultyPromises } = await vi.hoisted(() => import("./io-faults.ts"));
vi.mock("node:fs", async (real) => faultyFs(await real<object>()));
vi.mock("node:fs/promises", async (real) => faultyPromises(await real<object>()));

let folder: string;
let file: string;
const here = (path: string) => path.startsWith(folder);
beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), "gcopd-faults-"));
  file = join(folder, "file");
});
afterEach(() => {
  disarmFault();
  rmSync(folder, { recursive: true, force: true });
});

const CONTENT = "0123456789";

it("meets every operation of a scenario once with each fault", async () => {
  const met = await eachFault(
    () => here,
    async () => {
      let descriptor: number | null = null;
      try {
        descriptor = openSync(file, "w");
        writeSync(descriptor, CONTENT);
      } catch {
        // Injected.
      } finally {
        try {
          if (descriptor !== null) closeSync(descriptor);
        } catch {
          // Injected.
        }
      }
    },
  );
  const all = ["openSync", "writeSync", "closeSync"].map((name) => `${name} ${file}`);
  expect(met).toEqual({ short: [`writeSync ${file}`], EIO: all, ENOSPC: all, EMFILE: all });
});

it("reads and writes half of the bytes, and says so", async () => {
  const descriptor = openSync(file, "w+");
  armFault("short", { concerns: here });
  expect(writeSync(descriptor, CONTENT)).toBe(5);
  expect(disarmFault()).toBe(`writeSync ${file}`);
  writeSync(descriptor, CONTENT, 0);
  armFault("short", { concerns: here });
  expect(readSync(descriptor, Buffer.alloc(4), 0, 4, 0)).toBe(2);
  armFault("short", { concerns: here });
  expect(readSync(descriptor, Buffer.alloc(4), { position: 0 })).toBe(2);
  disarmFault();
  closeSync(descriptor);

  const handle = await open(file, "r+");
  armFault("short", { concerns: here });
  expect((await handle.write(Buffer.from(CONTENT), 0, 10, 0)).bytesWritten).toBe(5);
  armFault("short", { concerns: here });
  expect((await handle.read(Buffer.alloc(10), 0, 10, 0)).bytesRead).toBe(5);
  await handle.close();
});

it("leaves half a file where a whole one could not be written", async () => {
  armFault("short", { concerns: here });
  expect(() => writeFileSync(file, CONTENT)).toThrow("ENOSPC: no space left on device, writeFile");
  expect(readFileSync(file, "utf8")).toBe("01234");
  armFault("short", { concerns: here });
  await expect(writeFile(file, "abc")).rejects.toThrow(/^ENOSPC/);
  expect(await readFile(file, "utf8")).toBe("ab");
});

it("leaves other paths alone, fails as often as asked, and reaches streams", async () => {
  armFault("EMFILE", { times: 2, concerns: (path) => path === file });
  writeFileSync(join(folder, "other"), CONTENT);
  expect(() => openSync(file, "w")).toThrow(expect.objectContaining({ code: "EMFILE", syscall: "open" }));
  await expect(pipeline([CONTENT], createWriteStream(file))).rejects.toThrow(/^EMFILE/);
  await pipeline([CONTENT], createWriteStream(file));
  expect(readFileSync(file, "utf8")).toBe(CONTENT);
  armFault("short", { concerns: here });
  await pipeline([CONTENT], createWriteStream(file));
  expect(disarmFault()).toBe(`write ${file}`);
  expect(readFileSync(file, "utf8")).toBe(CONTENT);
  armFault("EIO", { concerns: here });
  expect(existsSync(file)).toBe(false);
});
