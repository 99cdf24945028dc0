/** The command line, the queue, the store and launched runs: no module of theirs calls the file system without a test that lets each call fail. */
import { existsSync, readdirSync } from "node:fs";
import { join } from "node:path";
import { expect, it } from "vitest";
import { FAULTED } from "./support/faulted-modules.ts";
import { fileCalls } from "./support/file-calls.ts";

const ROOT = join(import.meta.dirname, "..");
const FOLDERS = ["src/node", "src/cli", "src/worker/job", "src/worker/files", "src/worker/launch"];
/** Its calls are made before there is any work. */
const AT_LOAD = ["src/node/package-root.ts"];

it("every module that calls the file system is in a test of faults", () => {
  const modules = FOLDERS.flatMap((folder) =>
    readdirSync(join(ROOT, folder), { recursive: true, encoding: "utf8" })
      .map((name) => `${folder}/${name.replaceAll("\\", "/")}`)
      .filter((name) => name.endsWith(".ts") && !name.endsWith(".test.ts")),
  );
  expect(modules.length).toBeGreaterThan(50);
  const calling = modules.filter((module) => fileCalls(module).length > 0);
  const faulted: string[] = Object.values(FAULTED).flat();
  expect(calling.filter((module) => !faulted.includes(module) && !AT_LOAD.includes(module))).toEqual([]);
});

it("every module that is named calls the file system, and every test is there", () => {
  for (const [test, modules] of Object.entries(FAULTED)) {
    expect(existsSync(join(ROOT, test)), test).toBe(true);
    for (const module of modules) expect(fileCalls(module), module).not.toEqual([]);
  }
});
