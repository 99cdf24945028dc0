/** A lock keeps others out as long as its process lives, whatever the system refuses while it is taken. */
import { spawn, spawnSync } from "node:child_process";
import { once } from "node:events";
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterEach, beforeEach, describe, expect, it } from "vitest";
import {
  descriptors,
  liftLimits,
  limitFileSize,
  withFreeDescriptors,
} from "../../test/support/process-limits.ts";
import { InputError } from "../core/errors.ts";
import { lockFolder } from "./lock.ts";

const BUSY = new InputError("another process works here");
let folder: string;
const file = () => join(folder, "lock.sqlite");
const take = () => lockFolder(file(), BUSY);
beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), "gcopd-lock-"));
});
afterEach(() => rmSync(folder, { recursive: true, force: true }));

/** Another process that takes the lock as this one does, prints whether it could, and keeps it until it is killed. */
const OTHER = () => [
  "--input-type=module",
  "--eval",
  `import Database from ${JSON.stringify(import.meta.resolve("libsql"))};
   const db = new Database(${JSON.stringify(file())});
   try { db.exec("BEGIN EXCLUSIVE"); console.log("held"); } catch ({ code }) { console.log(code); process.exit(); }
   setInterval(() => {}, 1000);`,
];
const tryElsewhere = (): string =>
  String(spawnSync(process.execPath, OTHER(), { timeout: 60_000 }).stdout).trim();

it("keeps another process out until it is given back", () => {
  const giveBack = take();
  expect(tryElsewhere()).toBe("SQLITE_BUSY");
  expect(take).toThrow(BUSY);
  giveBack();
  take()();
});

it("is free as soon as its process is killed", async () => {
  const other = spawn(process.execPath, OTHER(), { stdio: ["ignore", "pipe", "inherit"] });
  await once(other.stdout, "data");
  expect(take).toThrow(BUSY);
  other.kill("SIGKILL");
  await once(other, "exit");
  take()();
});

const REFUSED = /^[^\n]*lock\.sqlite: cannot be used to keep other processes out: [^\n]+$/;

it.each([
  ["is a folder", () => mkdirSync(file())],
  ["is no lock", () => writeFileSync(file(), "some other file, of more than a hundred bytes. ".repeat(3))],
  ["has no folder", () => rmSync(folder, { recursive: true })],
])("a file that %s is named in one line", (_, make) => {
  make();
  expect(take).toThrow(REFUSED);
});

describe.runIf(process.platform === "linux")("limits of the system", () => {
  /** Whether the lock was refused; where it was not, it is given back. */
  const isRefused = (): boolean => {
    let giveBack: () => void;
    try {
      giveBack = take();
    } catch (error) {
      expect(error).toBeInstanceOf(InputError);
      expect((error as Error).message).toMatch(REFUSED);
      return true;
    }
    giveBack();
    return false;
  };

  it("without a descriptor it says so, keeps none, and can be taken later", () => {
    let refused = 0;
    const before = descriptors().length;
    while (withFreeDescriptors(refused, isRefused)) {
      refused += 1;
      expect(descriptors().length).toBe(before);
    }
    expect(refused).toBeGreaterThanOrEqual(1);
  });

  it("without room for a byte it says so, and can be taken later", () => {
    limitFileSize(0);
    const refused = isRefused();
    liftLimits();
    expect(refused).toBe(true);
    expect(isRefused()).toBe(false);
  });
});
