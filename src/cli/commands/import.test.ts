import { cpSync, mkdirSync, mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { gunzipSync } from "node:zlib";
import { afterEach, beforeEach, describe, expect, it } from "vitest";
import { runCli } from "../../../test/support/cli.ts";
import { expectedLines, onExpectedKeys } from "../../../test/support/import-fixture.ts";
import type { Episode, ScoreOutput, Source } from "../../core/record/schema.ts";
import type { ImportReport } from "../../formats/import/index.ts";

const FIXTURES = new URL("../../../test/fixtures/imports/", import.meta.url).pathname;

let folder: string;

beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), "gcopd-import-"));
});

afterEach(() => {
  rmSync(folder, { recursive: true, force: true });
});

function lines<T>(path: string): T[] {
  const bytes = readFileSync(path);
  const text = (path.endsWith(".gz") ? gunzipSync(bytes) : bytes).toString("utf8");
  return text
    .trimEnd()
    .split("\n")
    .map((line) => JSON.parse(line) as T);
}

/** A copy of a fixture's folder that a test may spoil. */
function copyOf(fixture: string): string {
  const copy = join(folder, "foreign");
  mkdirSync(copy);
  cpSync(join(FIXTURES, fixture), copy, { recursive: true });
  return copy;
}

describe("gcopd import", () => {
  it("converts a catalog to a library that validates, and reports every file on standard error", async () => {
    const out = join(folder, "library.jsonl.gz");
    const result = await runCli("import", join(FIXTURES, "scienceworld-catalog/catalog"), "--out", out);
    expect(result.code, result.err).toBe(0);
    expect(result.out).toBe("");
    const expected = expectedLines<Source>("scienceworld-catalog/expected-sources.jsonl.gz");
    expect(lines<Source>(out).map((source, i) => onExpectedKeys(source, expected[i]))).toStrictEqual(
      expected,
    );
    expect(result.err).toContain("scienceworld-catalog: 51 sources, 555 decisions of 3 tasks (scienceworld)");
    expect(result.err).toContain("sources: 26 verified successes");
    expect(result.err).toContain(
      "_r13.json: its SHA-256 differs from the manifest's; the graph alone is used",
    );
    expect(result.err).toContain(
      "_r03.json: the manifest says that repetition 3 is missing (expected_missing)",
    );
    expect((await runCli("validate", out)).out).toContain("valid: 51 sources, 3 tasks, 555 decisions");
    expect(readdirSync(folder)).toEqual(["library.jsonl.gz"]);
  });

  it("writes episodes, scores and the report to files of their own", async () => {
    const names = ["library.jsonl", "episodes.jsonl", "scores.jsonl", "report.json"];
    const [out, episodes, scores, report] = names.map((name) => join(folder, name)) as [
      string,
      string,
      string,
      string,
    ];
    const result = await runCli(
      ...["import", join(FIXTURES, "scienceworld-run"), "--out", out, "--format", "student-run"],
      ...["--episodes-out", episodes, "--scores-out", scores, "--report", report],
    );
    expect(result.code, result.err).toBe(0);
    expect(readdirSync(folder).sort()).toEqual(names.slice(1).sort());
    // JSON as JavaScript writes it has no -0, which the recorder's log-probabilities have.
    const expected = expectedLines<Episode>("scienceworld-run/expected-episodes.jsonl.gz").map(
      (episode) => JSON.parse(JSON.stringify(episode)) as Episode,
    );
    const imported = new Map(lines<Episode>(episodes).map((episode) => [episode.episode, episode]));
    for (const episode of expected) {
      expect(onExpectedKeys(imported.get(episode.episode), episode)).toStrictEqual(episode);
    }
    expect(lines<ScoreOutput>(scores).length).toBe(
      expectedLines("scienceworld-run/expected-scores.jsonl").length,
    );
    expect(result.err).toContain(
      "unaligned: 1 episode (7 decisions): evaluation episodes are recorded without states",
    );
    expect(result.err).toContain(`not written: ${out} (sources): the import gives none`);
    const told = JSON.parse(readFileSync(report, "utf8")) as ImportReport;
    expect(told).toMatchObject({ episodes: 4, scores: 26, unaligned: { episodes: 1, decisions: 7 } });
    // The expectations of this fixture lie in the folder too: no part of the run, and said so.
    expect(told.skipped.map(({ reason }) => reason)).toEqual(Array(3).fill("no part of student-run"));
  });

  it("gives a run's episodes in --out, and says that scores were left out", async () => {
    const out = join(folder, "episodes.jsonl");
    const result = await runCli("import", join(FIXTURES, "webshop-run"), "--out", out);
    expect(result.code, result.err).toBe(0);
    expect(lines(out).length).toBe(3);
    expect(result.err).toContain("not written: 27 lists of teacher scores; name a file with --scores-out");
  });

  it("leaves scores out of --out where episodes have a file of their own", async () => {
    const [out, episodes] = [join(folder, "library.jsonl"), join(folder, "episodes.jsonl")] as const;
    const run = join(FIXTURES, "alfworld-run");
    const result = await runCli("import", run, "--out", out, "--episodes-out", episodes);
    expect(result.code, result.err).toBe(0);
    expect(readdirSync(folder)).toEqual(["episodes.jsonl"]);
    expect(result.err).toMatch(/not written: \d+ lists of teacher scores; name a file with --scores-out/);
    expect(result.err).toContain(`not written: ${out} (sources): the import gives none`);
  });

  it.each<[string, string, (copy: string) => void, RegExp]>([
    [
      "a manifest that is cut",
      "scienceworld-catalog/catalog",
      (copy) => truncate(join(copy, "MANIFEST.json"), 3000),
      /MANIFEST\.json: not JSON: /,
    ],
    [
      "a graph that is cut",
      "scienceworld-catalog/catalog",
      (copy) => truncate(join(copy, "cases/ea1a8469c922120f/graph.json.gz"), 20_000),
      /cases\/ea1a8469c922120f\/graph\.json\.gz: truncated gzip/,
    ],
    [
      "a repetition that is there twice",
      "webshop-catalog/catalog",
      (copy) =>
        edit(join(copy, "MANIFEST.json"), (manifest) => (manifest.tasks[1]!.source_files[3]!.rep = 2)),
      /MANIFEST\.json, tasks\[1\]\.source_files\[3\]\.rep: repetition 2 of task "goal1502" already exists/,
    ],
    [
      "an entry of a wrong type",
      "webshop-catalog/catalog",
      (copy) => edit(join(copy, "entries/bdbfe801200fa6a5.json"), (entry) => (entry.graph.path = 7)),
      /entries\/bdbfe801200fa6a5\.json, graph\.path: expected string, received number/,
    ],
    [
      "a task of an ALFWorld catalog that is cut",
      "alfworld-catalog-base/catalog",
      (copy) =>
        truncate(join(copy, "ba5409dff9b5cb3602cade02f0942233687f0438af87aa3012925f68a00e98c8.json"), 9000),
      /ba5409[0-9a-f]+\.json: not JSON: /,
    ],
    [
      "an episode without its observation",
      "alfworld-run",
      (copy) =>
        edit(join(copy, "episodes/d508524447062ce5421039f5fc769a22.json"), (episode) => {
          episode.steps[2]!.current_obs = undefined;
        }),
      /d508524447062ce5421039f5fc769a22\.json, steps\[2\]\.current_obs: missing; expected string/,
    ],
    [
      "scores of another response",
      "alfworld-run",
      (copy) =>
        edit(join(copy, "teacher_scores/d508524447062ce5421039f5fc769a22.json"), (scores) => {
          scores.turns[1]!.response_ids[0] = 1;
        }),
      /teacher_scores\/d508\w+\.json, turns\[1\]\.response_ids: differ from the response of decision 1/,
    ],
  ])("gives one line and no output for %s", async (_, fixture, spoil, message) => {
    const copy = copyOf(fixture);
    spoil(copy);
    const out = join(folder, "library.jsonl");
    const result = await runCli("import", copy, "--out", out, "--scores-out", join(folder, "scores.jsonl"));
    expect(result.code).toBe(1);
    expect(result.err).toMatch(message);
    expect(result.err.trimEnd().split("\n").length).toBe(1);
    expect(readdirSync(folder)).toEqual(["foreign"]);
  });

  it("refuses what it does not know, and an unknown format", async () => {
    writeFileSync(join(folder, "notes.txt"), "hello");
    const out = join(folder, "library.jsonl");
    const unknown = await runCli("import", join(folder, "notes.txt"), "--out", out);
    expect(unknown.code).toBe(1);
    expect(unknown.err).toMatch(
      /notes\.txt: not in any format that can be imported; known are scienceworld-catalog/,
    );
    expect((await runCli("import", folder, "--out", out, "--format", "nothing")).err).toMatch(
      /no format "nothing"/,
    );
    const notes = await runCli("import", join(folder, "notes.txt"), "--out", join(folder, "notes.txt"));
    expect(notes.err).toMatch(/notes\.txt: is an input of this command; expected another file to write/);
    expect((await runCli("import", join(folder, "absent"), "--out", out)).err).toMatch(
      /absent: no such file/,
    );
    expect(readdirSync(folder)).toEqual(["notes.txt"]);
  });
});

function truncate(path: string, bytes: number): void {
  writeFileSync(path, readFileSync(path).subarray(0, bytes));
}

/** Changes a JSON file in place. */
function edit(path: string, change: (value: Foreign) => void): void {
  const value = JSON.parse(readFileSync(path, "utf8")) as Foreign;
  change(value);
  writeFileSync(path, JSON.stringify(value));
}

/** The places of foreign JSON that the tests above spoil. */
interface Foreign {
  tasks: { source_files: { rep: number }[] }[] &
    Record<number, { source_files: Record<number, { rep: number }> }>;
  graph: { path: unknown };
  steps: Record<number, { current_obs: string | undefined }>;
  turns: Record<number, { response_ids: Record<number, number> }>;
}
