import { mkdtempSync, readdirSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, afterEach, beforeEach, expect, test, vi } from "vitest";
import type { SimulatorJar } from "./jar.ts";
import { makeJarFolder } from "./jar-folder.ts";

vi.mock("node:fs", async (original) => ({
  ...(await original<typeof import("node:fs")>()),
  writeFileSync: () => {
    throw Object.assign(new Error("ENOSPC"), { code: "ENOSPC", syscall: "write" });
  },
}));

const JAR: SimulatorJar = { file: "a.whl", bytes: new Uint8Array(1), version: "1.2.3", sha256: "" };
const own = mkdtempSync(join(tmpdir(), "gcopd-jar-folder-"));
beforeEach(() => void vi.stubEnv("TMPDIR", own));
afterEach(() => void vi.unstubAllEnvs());
afterAll(() => rmSync(own, { recursive: true }));

test("a full disk is one line, and no folder stays behind", () => {
  const before = process.listenerCount("exit");
  expect(() => makeJarFolder(JAR)).toThrow("scienceworld.jar: no space left on the device");
  expect(readdirSync(own)).toEqual([]);
  expect(process.listenerCount("exit")).toBe(before);
});

test("a temporary folder that is not there is one line", () => {
  const gone = join(own, "gone");
  vi.stubEnv("TMPDIR", gone);
  expect(() => makeJarFolder(JAR)).toThrow(`${gone}: the folder to write into does not exist`);
});
