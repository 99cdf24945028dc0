import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { strToU8, zipSync } from "fflate";
import { afterAll, expect, test } from "vitest";
import { openJar } from "./jar.ts";
import { madeJar } from "./testing/made-jar.ts";

const folder = mkdtempSync(join(tmpdir(), "gcopd-jar-"));
afterAll(() => rmSync(folder, { recursive: true }));

function file(name: string, bytes: Uint8Array): string {
  const path = join(folder, name);
  mkdirSync(join(path, ".."), { recursive: true });
  writeFileSync(path, bytes);
  return path;
}

test("a wheel, a JAR and a package folder hold the same simulator", async () => {
  const bytes = madeJar("1.2.3");
  const wheel = await openJar(file("a.whl", zipSync({ "scienceworld/scienceworld.jar": bytes })));
  const alone = await openJar(file("a.jar", bytes));
  file("package/scienceworld.jar", bytes);
  const installed = await openJar(join(folder, "package"));
  expect(alone.version).toBe("1.2.3");
  expect(alone.sha256).toMatch(/^[0-9a-f]{64}$/);
  for (const other of [wheel, installed]) {
    expect(other.sha256).toBe(alone.sha256);
    expect(Buffer.from(other.bytes).equals(alone.bytes)).toBe(true);
  }
});

test("another version is named, and taken only when asked for", async () => {
  const path = file("b.jar", madeJar("1.3.0"));
  await expect(openJar(path)).rejects.toThrow(
    /b\.jar: is ScienceWorld 1\.3\.0 \(SHA-256 [0-9a-f]{64}\); expected 1\.2\.3$/,
  );
  expect((await openJar(path, { version: null })).version).toBe("1.3.0");
});

test.each([
  ["text", strToU8("no archive"), "is not a wheel or JAR, which are zip archives"],
  ["another wheel", zipSync({ "other/a.py": strToU8("") }), "holds no ScienceWorld simulator"],
  ["half a JAR", madeJar("1.2.3").subarray(0, 100), "is not a wheel or JAR"],
])("%s is refused in one line", async (_name, bytes, expected) => {
  await expect(openJar(file("c.jar", bytes))).rejects.toThrow(expected);
});

test("a file that is not there", async () => {
  await expect(openJar(join(folder, "none.whl"))).rejects.toThrow(/none\.whl: no such file/);
  mkdirSync(join(folder, "empty"));
  await expect(openJar(join(folder, "empty"))).rejects.toThrow(/scienceworld\.jar: no such file/);
});
