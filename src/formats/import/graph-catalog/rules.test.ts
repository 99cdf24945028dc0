/** Rules of the catalogs that no fixture shows alone, on the fixtures' own files with one thing changed. */
import { createHash } from "node:crypto";
import { gunzipSync, gzipSync } from "node:zlib";
import { describe, expect, it } from "vitest";
import { expectedLines, fixtureContents, importAll } from "../../../../test/support/import-fixture.ts";
import type { Source } from "../../../core/record/schema.ts";
import { type ImportFiles, memoryFiles } from "../files.ts";

type Json = Record<string, unknown>;
type Contents = Record<string, Uint8Array>;

const TASK = "power-component|0|easy";
const ENTRY = "entries/ec2c86090a55a7a4.json";
const GRAPH = "cases/ec2c86090a55a7a4/graph.json.gz";
const ORIGINAL = (rep: number) => `sources/train_ec2c86090a55a7a4_r${String(rep).padStart(2, "0")}.json`;

function read(contents: Contents, path: string): Json {
  const bytes = contents[path]!;
  return JSON.parse((path.endsWith(".gz") ? gunzipSync(bytes) : Buffer.from(bytes)).toString("utf8")) as Json;
}

const hash = (bytes: Uint8Array) => createHash("sha256").update(bytes).digest("hex");

/** Changes a JSON file; for a graph, its entry is kept true. */
function change(contents: Contents, path: string, edit: (value: Json) => void): void {
  const value = read(contents, path);
  edit(value);
  const text = Buffer.from(JSON.stringify(value));
  contents[path] = new Uint8Array(path.endsWith(".gz") ? gzipSync(text) : text);
  if (path === GRAPH) {
    change(contents, ENTRY, (entry) => {
      (entry.graph as Json).sha256 = hash(contents[GRAPH]!);
    });
  }
}

/** The catalog with one task. */
function catalog(): Contents {
  const contents = fixtureContents("scienceworld-catalog/catalog");
  change(contents, "MANIFEST.json", (manifest) => {
    manifest.tasks = (manifest.tasks as Json[]).filter(({ gamefile }) => gamefile === TASK);
  });
  return contents;
}

async function importOf(contents: Contents | ImportFiles) {
  const { records, report } = await importAll(contents);
  const sources = new Map(
    records.flatMap((entry): [number, Source][] =>
      entry.kind === "source" ? [[entry.record.repetition, entry.record]] : [],
    ),
  );
  return { sources, report };
}

describe("positive_candidate_allowed", () => {
  it("is kept where it is false: in the graph's own steps", async () => {
    const contents = catalog();
    let rep = -1;
    change(contents, GRAPH, (graph) => {
      const trajectory = (graph.trajectories as Json[]).find((each) => each.trusted_complete === true)!;
      rep = trajectory.rep as number;
      for (const step of trajectory.steps as Json[]) step.positive_candidate_allowed = true;
      (trajectory.steps as Json[])[1]!.positive_candidate_allowed = false;
    });
    const { decisions } = (await importOf(contents)).sources.get(rep)!;
    expect(decisions.map(({ entry_allowed }) => entry_allowed)).toEqual(
      decisions.map((_, j) => (j === 1 ? false : undefined)),
    );
  });
});

const expected = new Map(
  expectedLines<Source>("scienceworld-catalog/expected-sources.jsonl.gz")
    .filter(({ task }) => task === TASK)
    .map((source) => [source.repetition, source]),
);

function trajectory(graph: Json, rep: number): Json {
  return (graph.trajectories as Json[]).find((entry) => entry.rep === rep)!;
}

describe("a ScienceWorld catalog", () => {
  it("has the same tries from the graph's branches as from the original files", async () => {
    const contents = catalog();
    for (const path of Object.keys(contents)) if (path.startsWith("sources/")) delete contents[path];
    const { sources, report } = await importOf(contents);
    let tries = 0;
    for (const [rep, source] of sources) {
      if (!source.outcome.verified) continue;
      const wanted = expected.get(rep)!;
      expect(source.decisions.map(({ attempts }) => attempts)).toStrictEqual(
        wanted.decisions.map(({ attempts }) => attempts),
      );
      expect(source.attempts_after_last).toStrictEqual(wanted.attempts_after_last);
      expect(source.origin).not.toHaveProperty("model");
      tries += source.decisions.flatMap(({ attempts }) => attempts).length;
    }
    expect(tries).toBeGreaterThan(10);
    // The source that no graph holds is gone with its file, and the one that the graph only begins is not whole.
    expect(sources.has(7)).toBe(false);
    expect(report.skipped).toContainEqual({
      file: ORIGINAL(7),
      reason: "not in the catalog; nothing else holds this source",
    });
    expect(sources.get(14)!.decisions.length).toBe(5);
    expect(sources.get(14)!.outcome).toMatchObject({
      complete: false,
      success: false,
      verified: false,
      reported_success: true,
    });
  });

  it("comes from the original files alone where the entry or its graph is not there, or is another one", async () => {
    const spoilt: [(contents: Contents) => void, RegExp][] = [
      [(contents) => delete contents[ENTRY], /no such entry/],
      [(contents) => change(contents, ENTRY, (entry) => (entry.graph = null)), /names no graph/],
      [(contents) => delete contents[GRAPH], /not in the catalog/],
      [
        (contents) => change(contents, ENTRY, (entry) => ((entry.graph as Json).sha256 = "0".repeat(64))),
        /SHA-256 differs from the entry's/,
      ],
    ];
    for (const [spoil, reason] of spoilt) {
      const contents = catalog();
      spoil(contents);
      const { sources, report } = await importOf(contents);
      expect(sources.size).toBe(18);
      for (const [rep, source] of sources) {
        expect(source.outcome.verified).toBe(false);
        expect(source.decisions.every(({ state }) => state === null)).toBe(true);
        expect(source.decisions.map(({ action }) => action)).toStrictEqual(
          expected.get(rep)!.decisions.map(({ action }) => action),
        );
        expect(source.outcome.success).toBe(expected.get(rep)!.outcome.reported_success);
      }
      const told = [
        ...report.skipped.map((entry) => entry.reason),
        ...report.warnings.map((entry) => entry.message),
      ];
      expect(told.some((text) => reason.test(text))).toBe(true);
      expect(report.unaligned).toMatchObject({ sources: 18 });
    }
  });

  it("of a partial entry keeps what the graph has and says that it is partial", async () => {
    const contents = catalog();
    change(contents, ENTRY, (entry) => (entry.status = "partial"));
    change(contents, GRAPH, (graph) => {
      graph.trajectories = (graph.trajectories as Json[]).slice(0, 4);
    });
    const { sources, report } = await importOf(contents);
    expect(sources.size).toBe(18);
    expect([...sources.values()].filter(({ outcome }) => outcome.verified).length).toBe(4);
    expect(report.warnings).toContainEqual(expect.objectContaining({ file: ENTRY, key: "status" }));
  });

  it("takes everything from the original when replay could not even begin", async () => {
    const contents = catalog();
    change(contents, GRAPH, (graph) => Object.assign(trajectory(graph, 14), { steps: [], states: [] }));
    const source = (await importOf(contents)).sources.get(14)!;
    expect(source.decisions.map(({ action }) => action)).toStrictEqual(
      expected.get(14)!.decisions.map(({ action }) => action),
    );
    expect(source.decisions.every(({ state }) => state === null)).toBe(true);
    expect(source.outcome).toMatchObject({ complete: true, success: true, verified: false });
  });

  it("keeps gaps, rollbacks and menu choices that were refused", async () => {
    const contents = catalog();
    change(contents, GRAPH, (graph) => {
      const steps = trajectory(graph, 1).steps as Json[];
      steps[2]!.recording_gap_before = true;
      steps[3]!.rolled_back_attempt = true;
      Object.assign(steps[6]!, { action: "0", semantic_action: " pick  up\tbattery ", rejection: "refused" });
    });
    const { decisions } = (await importOf(contents)).sources.get(1)!;
    expect(decisions[2]!.gap_before).toBe(true);
    expect(decisions[3]!.status).toBe("rolled_back");
    expect(decisions[6]).toMatchObject({ action: "0", binding: "pick up battery", status: "rejected" });
  });

  it("uses an absolute path that exists, and one that does not by its last parts in the catalog", async () => {
    const contents = catalog();
    const elsewhere = contents[ORIGINAL(0)]!;
    delete contents[ORIGINAL(0)];
    change(contents, "MANIFEST.json", (manifest) => {
      const rows = (manifest.tasks as { source_files: Json[] }[])[0]!.source_files;
      rows[0]!.path = "/recordings/first.json";
      rows[1]!.path = `/gone/far/away/${ORIGINAL(1)}`;
    });
    const place: ImportFiles = {
      ...memoryFiles(contents),
      async absolute(path) {
        if (path !== "/recordings/first.json") return undefined;
        return {
          size: elsewhere.length,
          async *open() {
            yield elsewhere;
          },
        };
      },
    };
    const { sources } = await importOf(place);
    expect(sources.get(0)!.origin.model).toBe("scripted/noisy-gold-path");
    expect(sources.get(1)!.origin.model).toBe("scripted/noisy-gold-path");
    const { sources: without, report } = await importOf(memoryFiles(contents));
    expect(without.get(0)!.origin).not.toHaveProperty("model");
    expect(report.skipped).toContainEqual({
      file: "/recordings/first.json",
      reason: "does not exist, nor does its last part lie in the catalog; the graph alone is used",
    });
  });

  it("never reads a relative path that leads out of the catalog", async () => {
    const contents = catalog();
    change(contents, "MANIFEST.json", (manifest) => {
      (manifest.tasks as { source_files: Json[] }[])[0]!.source_files[0]!.path = "../../secret.json";
    });
    const { report } = await importOf(memoryFiles(contents));
    expect(report.skipped).toContainEqual({
      file: "../../secret.json",
      reason: "leads out of the catalog; the graph alone is used",
    });
  });

  it.each<[string, (contents: Contents) => void, RegExp]>([
    [
      "a graph of another version",
      (contents) => change(contents, GRAPH, (graph) => (graph.schema_version = "physical_graph_v9")),
      /graph\.json\.gz, schema_version: expected "physical_graph_v1", received "physical_graph_v9"/,
    ],
    [
      "a graph of another task",
      (contents) => change(contents, GRAPH, (graph) => (graph.gamefile = "boil|1|easy")),
      /graph\.json\.gz, gamefile: is of task "boil\|1\|easy"; expected "power-component\|0\|easy"/,
    ],
    [
      "a state too few",
      (contents) => change(contents, GRAPH, (graph) => (trajectory(graph, 2).states as Json[]).pop()),
      /graph\.json\.gz, trajectories \(rep 2\)\.states: 6 states for 6 steps; expected 7/,
    ],
    [
      "a trajectory twice",
      (contents) => change(contents, GRAPH, (graph) => (trajectory(graph, 2).rep = 1)),
      /graph\.json\.gz, trajectories\[2\]\.rep: repetition 1 already exists/,
    ],
    [
      "a beginning that the original does not have",
      (contents) =>
        change(contents, GRAPH, (graph) => ((trajectory(graph, 14).steps as Json[])[1]!.action = "dance")),
      /graph\.json\.gz, trajectories \(rep 14\)\.steps: step 1 takes "dance", but the original/,
    ],
    [
      "a score in words",
      (contents) =>
        change(contents, GRAPH, (graph) => ((trajectory(graph, 0).steps as Json[])[4]!.score = "7")),
      /graph\.json\.gz, trajectories\[0\]\.steps\[4\]\.score: expected number, received string/,
    ],
  ])("is refused in one line for %s", async (_, spoil, message) => {
    const contents = catalog();
    spoil(contents);
    await expect(importOf(contents)).rejects.toThrow(message);
  });
});
