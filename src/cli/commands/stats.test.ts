/** The command `stats`, and the options of the ablations on `retrieve` and `evidence`, as the command line runs them. */
import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join, resolve } from "node:path";
import { afterEach, beforeEach, describe, expect, it } from "vitest";
import { runCli } from "../../../test/support/cli.ts";
import { fixtureEpisodes, fixtureRetrievals, fixtureSources } from "../../../test/support/scienceworld.ts";

const fixture = (name: string) => resolve(import.meta.dirname, "../../../test/fixtures", name);
const LIBRARY = ["--library", fixture("scienceworld/sources.jsonl.gz")];
const BOTH = [...LIBRARY, "--episodes", fixture("scienceworld/episodes.jsonl.gz")];
const TASK = "use-thermometer|3|easy";

let folder: string;
beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), "gcopd-"));
});
afterEach(() => rmSync(folder, { recursive: true }));

function write(name: string, records: readonly object[]): string {
  const path = join(folder, name);
  writeFileSync(path, records.map((record) => `${JSON.stringify(record)}\n`).join(""));
  return path;
}

/** Sources and two episodes of one task, and the arguments that name them. */
function small() {
  const sources = fixtureSources().filter(({ task }) => task === TASK);
  const episodes = fixtureEpisodes().filter(({ task }) => task === TASK);
  const args = ["--library", write("s.jsonl", sources), "--episodes", write("e.jsonl", episodes.slice(0, 2))];
  return { sources, episodes: episodes.slice(0, 2), args };
}

const lines = (text: string) =>
  text
    .trimEnd()
    .split("\n")
    .map((line) => JSON.parse(line));

describe("gcopd stats", () => {
  it("prints the tables in the paper's order", async () => {
    const { code, out } = await runCli("stats", ...BOTH);
    expect(code).toBe(0);
    expect(out).toMatch(
      /^195 of 195 sources over 11 tasks; control graph, no source budget, augmentation on\n/,
    );
    expect(out).toMatch(/^References: 1,699 decisions of 73 episodes \(33 won\)\n\n\| relation /m);
    expect(out).toMatch(/\| locator matches a visit +\| +763 \| +44\.91 % \|/);
    expect(out).toMatch(/\| current state +\| +506 \| +29\.78 % \|/);
    const titles = [
      "References",
      "Outcome composition",
      "Retrieval",
      "Trusted-success coverage",
      "Where an execution can be entered",
      "Task graphs",
      "Evidence in characters",
    ];
    const places = titles.map((title) => out.indexOf(title));
    expect(places.every((place) => place > 0)).toBe(true);
    expect(places).toEqual([...places].sort((a, b) => a - b));
  });

  it("prints JSON, of the library alone too, with budgets of one's own", async () => {
    const { out } = await runCli("stats", ...LIBRARY, "--json", "--budgets", "8, 2");
    expect(JSON.parse(out)).toMatchObject({
      tasks: 11,
      recorded: 195,
      coverage: [{ sources_per_task: 2 }, { sources_per_task: 8 }, { sources_per_task: null }],
      graph: { sources: 195, located_visits: 3702 },
      decisions: null,
      evidence: null,
    });
  });

  it("counts tokens against the environment's limit, and tasks without sources", async () => {
    const { sources, episodes, args } = small();
    const tokenizer = ["--tokenizer", fixture("models/tokenizer"), "--json"];
    const found = JSON.parse((await runCli("stats", ...args, ...tokenizer)).out);
    const decisions = episodes.reduce((sum, episode) => sum + episode.decisions.length, 0);
    expect(found.evidence).toMatchObject({
      unit: "tokens",
      decisions,
      budget: { over: 0, refused: 0, without_prompt: 0 },
    });
    const one = ["--episode", episodes[0]!.episode, "--decision", "0"];
    const { out } = await runCli(
      "evidence",
      ...args,
      ...one,
      "--json",
      "--tokenizer",
      fixture("models/tokenizer"),
    );
    expect(found.evidence.max).toBeGreaterThanOrEqual(JSON.parse(out).tokens);
    expect(found.evidence).not.toHaveProperty("values");

    const other = write("other.jsonl", [{ ...sources[0]!, task: "another task" }]);
    const none = await runCli("stats", "--library", other, ...args.slice(2), "--json");
    expect(JSON.parse(none.out)).toMatchObject({
      tasks: 2,
      tasks_without_sources: 1,
      decisions: { decisions, matched: 0, outcomes: { none: decisions } },
    });
  });

  it("counts the visits that can be entered; a feedback that is not the next observation is said elsewhere too", async () => {
    const { sources, episodes } = small();
    const custom = <T extends { decisions: readonly object[] }>(records: readonly T[]) =>
      records.map((record) => ({
        ...record,
        environment: "kitchen",
        decisions: record.decisions.map((decision) => ({ ...decision, feedback: "Done." })),
      }));
    const library = write("k.jsonl", custom(sources));
    const played = write("ke.jsonl", custom(episodes));
    const { out } = await runCli("stats", "--library", library, "--json");
    const { entries, graph } = JSON.parse(out);
    // A suffix of one decision has no feedback within it.
    expect(entries.eligible).toBeLessThanOrEqual(graph.successes);
    const { visits, ineligible } = entries as { visits: number; ineligible: Record<string, number> };
    const mismatched = ineligible.feedback_mismatch!;
    expect(mismatched).toBeGreaterThan(visits / 2);
    const text = await runCli("stats", "--library", library);
    expect(text.out).toMatch(
      new RegExp(
        `\\| not: a feedback after the visit differs from the next observation +\\| +${mismatched} \\|`,
      ),
    );
    const note =
      `${mismatched} of ${visits} visits of trusted successes of kitchen cannot be retrieved: ` +
      "a feedback after the visit differs from the next observation (docs/library-format.md)\n";
    expect((await runCli("validate", library)).err).toContain(`${library}: note: ${note}`);
    const retrieved = await runCli("retrieve", "--library", library, "--episodes", played);
    expect(retrieved.code, retrieved.err).toBe(0);
    expect(retrieved.err.split(`gcopd: note: ${library}: ${note}`)).toHaveLength(2);
    const unchanged = write("s.jsonl", sources);
    expect((await runCli("validate", unchanged)).err).toBe("");
  });

  it("counts every record that it can read, and lists the others once, with file, line and reason", async () => {
    const { sources, episodes, args } = small();
    const sound = JSON.parse((await runCli("stats", ...args, "--json")).out);
    const text = (records: readonly object[]) => records.map((each) => `${JSON.stringify(each)}\n`).join("");
    const library = join(folder, "damaged.jsonl");
    writeFileSync(
      library,
      `${text(sources.slice(0, 1))}{"format"\n${text(sources.slice(1))}${text([{ ...sources[0]!, source: "x", decisions: [1] }])}`,
    );
    const played = join(folder, "cut.jsonl");
    writeFileSync(played, `${text(episodes)}${text(episodes).slice(0, 200)}`);
    const damaged = ["--library", library, "--episodes", played];
    const { unreadable, ...figures } = JSON.parse((await runCli("stats", ...damaged, "--json")).out);
    expect({ ...figures, unreadable: [] }).toEqual(sound);
    const line = sources.length + 2;
    expect(unreadable).toEqual([
      { kind: null, file: played, line: 3, reason: expect.stringMatching(/^not JSON/) },
      { kind: null, file: library, line: 2, reason: expect.stringMatching(/^not JSON/) },
      {
        kind: "source",
        file: library,
        line,
        reason: expect.stringMatching(/^decisions\[0\]: expected object/),
      },
    ]);
    const { code, out, err } = await runCli("stats", ...damaged);
    expect(code).toBe(0);
    const { length } = sources;
    expect(out).toMatch(
      new RegExp(`^${length} of ${length} sources over 1 task; 3 more records cannot be read; `),
    );
    expect(err).toMatch(
      /^gcopd: warning: 3 records left out, not readable \(first: .*cut\.jsonl, line 3: not JSON/,
    );
    const listed = out.slice(out.indexOf("left out"));
    expect(listed).toMatch(/^left out, as they cannot be read: 3 records\n( {2}[^\n]+\n){3}$/);
    expect(listed).toContain(`  ${library}, line ${line}: decisions[0]: expected object`);
  });

  it("refuses a file without any record in the words of its first line", async () => {
    const path = join(folder, "none.jsonl");
    writeFileSync(path, "a,b\n1,2\n");
    const { code, out, err } = await runCli("stats", "--library", path);
    expect([code, out]).toEqual([1, ""]);
    expect(err).toMatch(/^gcopd: [^\n]*none\.jsonl, line 1: not JSON[^\n]*\n$/);
  });

  it("refuses bad usage with exit code 2 and bad input with 1", async () => {
    expect((await runCli("stats", ...LIBRARY, "--budgets", "4,0")).code).toBe(2);
    expect((await runCli("stats", ...LIBRARY, "--budgets", "4,4")).code).toBe(2);
    expect((await runCli("stats", ...LIBRARY, "--tokenizer", fixture("models/tokenizer"))).code).toBe(2);
    expect((await runCli("stats", "--library", "-", "--episodes", "-")).code).toBe(2);
    expect((await runCli("stats", ...LIBRARY, "--sources-per-task", "0")).code).toBe(2);
    const swapped = await runCli("stats", "--library", fixture("scienceworld/episodes.jsonl.gz"));
    expect([swapped.code, swapped.out]).toEqual([1, ""]);
    expect(swapped.err).toMatch(/record of kind episode/);
  });
});

describe("options of the ablations", () => {
  it("retrieve: budgets and augmentation take records out before retrieval", async () => {
    const { sources, args } = small();
    const kept = sources.filter(({ repetition, origin }) => repetition < 4 && origin.kind !== "planner");
    const options = ["--sources-per-task", "4", "--augmentation", "off"];
    const { out, err } = await runCli("retrieve", ...args, ...options);
    expect(err).toContain(`over ${kept.length} sources`);
    const alone = write("kept.jsonl", kept);
    expect(out).toBe((await runCli("retrieve", "--library", alone, ...args.slice(2))).out);
  });

  it.each([
    ["gc-opd", (kind: string, repetition: number) => kind !== "planner" && repetition < 16],
    ["gc-opd+ga", (kind: string, repetition: number) => kind === "planner" || repetition < 16],
  ])("retrieve: --method %s takes its records, and a given option goes before it", async (method, takes) => {
    const { sources, args } = small();
    const kept = sources.filter(({ repetition, origin }) => takes(origin.kind, repetition));
    const { out, err } = await runCli("retrieve", ...args, "--method", method);
    expect(err).toContain(`over ${kept.length} sources`);
    const alone = write("kept.jsonl", kept);
    expect(out).toBe((await runCli("retrieve", "--library", alone, ...args.slice(2))).out);
    const few = await runCli("retrieve", ...args, "--method", method, "--augmentation", "off");
    expect(few.err).toContain(
      `over ${kept.filter(({ origin }) => origin.kind !== "planner").length} sources`,
    );
  });

  it("retrieve: minimum-prefix has one pair an episode, the rest of the record as without it", async () => {
    const { episodes, args } = small();
    const records = lines((await runCli("retrieve", ...args, "--control", "minimum-prefix")).out);
    const expected = fixtureRetrievals();
    for (const { episode } of episodes) {
      const own = records.filter((record) => record.episode === episode);
      const pairs = new Set(own.map(({ success, failure }) => JSON.stringify([success, failure])));
      expect(pairs.size).toBe(1);
      expect(own[0].success).toMatchObject({ relation: "unaligned", position: null });
      expect(own.map(({ success: _, failure: __, ...rest }) => rest)).toEqual(
        expected
          .filter((record) => record.episode === episode)
          .map(({ success: _, failure: __, ...rest }) => rest),
      );
    }
  });

  it("evidence: the terminal-failure note comes first, on the final decision only", async () => {
    const { episodes, args } = small();
    const lost = episodes.find(({ outcome }) => outcome.score !== null && outcome.score < 0)!;
    const at = (decision: number) => [
      ...args,
      "--episode",
      lost.episode,
      "--decision",
      String(decision),
      "--terminal-failure-note",
    ];
    const last = lost.decisions.length - 1;
    expect((await runCli("evidence", ...at(last))).out).toMatch(/^NOTE ON THE SCORED DECISION/);
    expect((await runCli("evidence", ...at(last - 1))).out).toMatch(/^STUDENT'S COMPLETE/);
    const marked = lines((await runCli("retrieve", ...args, "--terminal-failure-note")).out).filter(
      (record) => record.terminal_failure_note,
    );
    expect(marked.map(({ episode, decision }) => [episode, decision])).toEqual([[lost.episode, last]]);
  });
});
