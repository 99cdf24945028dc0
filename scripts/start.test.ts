import { mkdirSync, mkdtempSync, rmSync, utimesSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterEach, beforeEach, expect, it } from "vitest";
import { isStale } from "./start.mjs";

let folder: string;
const path = (name: string) => join(folder, name);
function write(name: string, time: number): string {
  writeFileSync(path(name), "");
  utimesSync(path(name), time, time);
  return path(name);
}
beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), "gcopd-start-"));
  mkdirSync(path("src/deep"), { recursive: true });
  write("src/deep/a.ts", 100);
  for (const name of ["src/deep", "src"]) utimesSync(path(name), 100, 100);
});
afterEach(() => rmSync(folder, { recursive: true, force: true }));

it("builds what is missing or older than its sources, and nothing else", () => {
  const sources = [path("src"), path("not-there")];
  expect(isStale(path("out"), path("stamp"), sources)).toBe(true);
  write("out", 50);
  expect(isStale(path("out"), path("stamp"), sources)).toBe(true);
  // The builder left the same file as it was, and a stamp.
  write("stamp", 101);
  expect(isStale(path("out"), path("stamp"), sources)).toBe(false);
  write("src/deep/a.test.ts", 200);
  utimesSync(path("src/deep"), 100, 100);
  expect(isStale(path("out"), path("stamp"), sources)).toBe(false);
  write("src/deep/a.ts", 200);
  expect(isStale(path("out"), path("stamp"), sources)).toBe(true);
});

it("sees a file that was taken away", () => {
  write("out", 150);
  rmSync(path("src/deep/a.ts"));
  expect(isStale(path("out"), path("stamp"), [path("src")])).toBe(true);
});
