/** What is kept here of a launched run's output, and what is packed for one, under faults of the disk. */
import {
  existsSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  rmSync,
  writeFileSync,
} from "node:fs";
import { join } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import { afterAll, afterEach, beforeAll, beforeEach, expect, it } from "vitest";
import { FileFaults, QUICK } from "../../../test/support/file-faults.ts";
import { InputError } from "../../core/errors.ts";
import { FollowedRuns } from "./followed-runs.ts";
import type { Offsets } from "./launcher.ts";
import { type LaunchedRuns, packed } from "./runs.ts";
import { collect } from "./shell.ts";

let files: FileFaults;
let folder: string;
const at = (...path: string[]) => join(folder, ...path);
beforeAll(async () => {
  files = await FileFaults.install();
});
afterAll(() => files.restore());
beforeEach(fresh);
afterEach(() => {
  files.disarm();
  rmSync(folder, { recursive: true });
});

function fresh(): string {
  if (folder !== undefined) rmSync(folder, { recursive: true, force: true });
  folder = mkdtempSync(join(QUICK, "gcopd-followed-"));
  return folder;
}

const PRINTED = '{"step":1}\n{"step":2}\n';
const LOGGED = "device cpu\nall of it\n";

/** A run that has ended, on a target that answers with a few bytes at a time. */
function ended(): LaunchedRuns {
  const record = {
    run: { id: "a", folder: "/there" },
    target: { name: "box", is: {} },
    ...{ attempt: 1, submitted_at: "2026-01-01T00:00:00Z", last: null },
  };
  const piece = (text: string, from: number | "tail") => {
    const bytes = new TextEncoder().encode(text);
    return { from, bytes: bytes.slice(Number(from), Number(from) + 9), size: bytes.length };
  };
  return {
    has: () => true,
    read: () => record,
    config: () => null,
    fetched: () => at("fetched"),
    at: (_: string, ...path: string[]) => at(...path),
    look: async (_: unknown, { out, err }: Offsets) => ({
      record,
      status: { state: "ended", output: piece(PRINTED, out), log: piece(LOGGED, err) },
    }),
  } as unknown as LaunchedRuns;
}

/** Asks until all of it is here. */
async function followed(): Promise<void> {
  const runs = new FollowedRuns(ended(), { everyMs: 0 });
  const over = () => {
    try {
      return runs.printed("a", 1, 0).over;
    } catch {
      return false;
    }
  };
  while (!over()) await sleep(1);
  await runs.close();
}

it.each(["short", "EIO", "ENOSPC", "EMFILE"] as const)(
  "output is kept once and whole through every %s",
  async (fault) => {
    const met = await files.each(fault, fresh, async () => {
      await followed();
      files.disarm();
      expect(readFileSync(at("attempt-1", "stdout.jsonl"), "utf8")).toBe(PRINTED);
      expect(readFileSync(at("attempt-1", "stderr.log"), "utf8")).toBe(LOGGED);
    });
    expect(met.length).toBeGreaterThan(0);
  },
);

it("output is on the disk before an attempt is marked as whole", async () => {
  files.arm(folder);
  await followed();
  const done = files.operations.map(({ name, path }) => `${name} ${path.slice(folder.length + 1)}`);
  const marked = done.findIndex((line) => /^renameSync attempt-1\/\.whole\./.test(line));
  expect(marked).toBeGreaterThan(0);
  for (const name of ["stdout.jsonl", "stderr.log"]) {
    const synced = done.lastIndexOf(`handle.sync attempt-1/${name}`);
    expect(synced).toBeGreaterThan(done.lastIndexOf(`handle.write attempt-1/${name}`));
    expect(synced).toBeLessThan(marked);
  }
});

it.each(["short", "EIO", "ENOSPC", "EMFILE"] as const)(
  "an archive is packed whole or not at all through every %s, and is packed again after it",
  async (fault) => {
    const begin = () => {
      fresh();
      writeFileSync(at("carried"), "carried\n");
      return folder;
    };
    const tar = () => packed(at("a.tar"), { "run.json": "{}\n" }, [{ from: at("carried"), to: "in/1" }]);
    await files.each(fault, begin, async () => {
      const error: unknown = await tar().then(
        () => null,
        (thrown: unknown) => thrown,
      );
      files.disarm();
      if (error !== null) {
        expect(error).toBeInstanceOf(InputError);
        await tar();
      }
      expect(readdirSync(folder).sort()).toEqual(["a.tar", "carried"]);
      const { out } = await collect("tar", ["-xOf", at("a.tar"), "./run.json", "./in/1"]);
      expect(Buffer.from(out).toString()).toBe("{}\ncarried\n");
    });
  },
);

it("what a killed packing left is not in the way, and an archive is on the disk before it has its name", async () => {
  await expect(packed(at("a.tar"), {}, [{ from: at("missing"), to: "in/1" }])).rejects.toThrow(
    /could not pack the files of the run/,
  );
  expect(existsSync(at("a.tar"))).toBe(false);
  mkdirSync(at("a.tar.files", "in"), { recursive: true });
  writeFileSync(at("a.tar.files", "in", "left"), "");
  files.arm(folder);
  await packed(at("a.tar"), { "run.json": "{}\n" }, []);
  const done = files.operations.map(({ name, path }) => `${name} ${path.slice(folder.length + 1)}`);
  expect(done.indexOf("renameSync a.tar.part")).toBeGreaterThan(done.indexOf("handle.sync a.tar.part"));
  expect(done).toContain("handle.sync a.tar.part");
});
