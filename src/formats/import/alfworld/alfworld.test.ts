import { createHash } from "node:crypto";
import { describe, expect, it } from "vitest";
import { fixtureContents, importAll } from "../../../../test/support/import-fixture.ts";
import { statedTask, withoutTask } from "./task-sentence.ts";

type Json = Record<string, unknown>;

const TASK = "ba5409dff9b5cb3602cade02f0942233687f0438af87aa3012925f68a00e98c8.json";

/** The catalog of one task, changed; its manifest is kept true unless `stale`. */
function catalog(
  edit: (task: { sources: Json[] } & Json) => void,
  stale = false,
): Record<string, Uint8Array> {
  const contents = fixtureContents("alfworld-catalog-base/catalog");
  const parse = (path: string) => JSON.parse(Buffer.from(contents[path]!).toString("utf8")) as Json;
  const task = parse(TASK) as { sources: Json[] } & Json;
  edit(task);
  contents[TASK] = new Uint8Array(Buffer.from(JSON.stringify(task)));
  const manifest = parse("MANIFEST.json");
  const sha256 = createHash("sha256").update(contents[TASK]).digest("hex");
  if (!stale) (manifest.tasks as Json[])[0]!.sha256 = sha256;
  contents["MANIFEST.json"] = new Uint8Array(Buffer.from(JSON.stringify(manifest)));
  return contents;
}

async function sourceOf(edit: (source: Json & { steps: Json[] }) => void) {
  const { records } = await importAll(catalog((task) => edit(task.sources[0] as Json & { steps: Json[] })));
  const first = records[0]!;
  if (first.kind !== "source") throw new Error("the first record is not a source");
  return first.record;
}

describe("an ALFWorld catalog", () => {
  it("takes a source that was not replayed for an unverified claim that is not known to be whole", async () => {
    const { outcome } = await sourceOf((source) => Object.assign(source, { trusted_complete: false }));
    expect(outcome).toMatchObject({
      complete: false,
      success: false,
      verified: false,
      reported_success: true,
    });
  });

  it("has no success where the win was not confirmed", async () => {
    const { outcome } = await sourceOf((source) => Object.assign(source, { trusted_success: false }));
    expect(outcome).toMatchObject({ complete: true, success: false, verified: true, reported_success: true });
  });

  it("starts and ends where it began when nothing was done", async () => {
    const source = await sourceOf((value) => Object.assign(value, { steps: [], won: false }));
    expect(source.decisions).toEqual([]);
    expect(source.final_state?.key).toMatch(/^[0-9a-f]{64}$/);
    expect(source.outcome).toMatchObject({ score: null, ended: "technical" });
  });

  it("leaves out a task whose file is another one than the manifest means", async () => {
    const contents = catalog((task) => (task.note = "changed"), true);
    await expect(importAll(contents)).rejects.toThrow(
      /gives no records: .*its SHA-256 differs from the manifest's/,
    );
  });

  it("is refused for a repetition that is there twice", async () => {
    const contents = catalog((task) => (task.sources[3]!.rep = 1));
    await expect(importAll(contents)).rejects.toThrow(/sources\[3\]\.rep: repetition 1 already exists/);
  });

  it("says when nobody declared it finished", async () => {
    const contents = fixtureContents("alfworld-catalog-base/catalog");
    delete contents["READY.json"];
    const { report } = await importAll(contents);
    expect(report.warnings.map(({ file }) => file)).toEqual(["READY.json"]);
  });
});

it("finds the task sentence and takes it away", () => {
  const first = "You are in a room.\n\nYour task is to: put some book on desk.";
  expect(statedTask(first)).toBe("put some book on desk.");
  expect(withoutTask(first)).toBe("You are in a room.");
  expect(statedTask("You are in a room.")).toBeUndefined();
  expect(withoutTask("You are in a room.")).toBe("You are in a room.");
});

it("reads a planner's own record as the collector's files, unverified", async () => {
  const planner = fixtureContents("alfworld-catalog/catalog/planner_sources");
  const { records, report } = await importAll(planner, "alfworld-sources");
  expect(report.standing).toMatchObject({ unverified: 2 });
  expect(records.map(({ record }) => ("source" in record ? record.source : ""))).toEqual([
    "planner:16",
    "planner:16",
  ]);
});
