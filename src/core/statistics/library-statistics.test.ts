import { describe, expect, it } from "vitest";
import { library, studentEpisode } from "../../../test/support/arbitrary-records.ts";
import { environmentFixture } from "../../../test/support/environment-fixture.ts";
import { source, student } from "../../../test/support/path-records.ts";
import fc from "../../../test/support/property.ts";
import { byTask } from "../../../test/support/scienceworld.ts";
import { InputError } from "../errors.ts";
import type { Episode, Source } from "../record/schema.ts";
import type { Selection } from "../retrieval/selection.ts";
import { emptyGraphTotals } from "./graph-totals.ts";
import { StatisticsCollector, type StatisticsOptions } from "./library-statistics.ts";

function collect(sources: readonly Source[], episodes: readonly Episode[], options: StatisticsOptions = {}) {
  const collector = new StatisticsCollector({ meter: null, ...options });
  const played = byTask(episodes);
  for (const [task, records] of byTask(sources)) {
    const { environment } = records[0]!;
    collector.add({ environment, task, sources: records, episodes: played.get(task) ?? [] });
    played.delete(task);
  }
  for (const [task, records] of played) {
    collector.add({ environment: records[0]!.environment, task, sources: [], episodes: records });
  }
  return collector.result();
}

describe("the fixtures' own counts", () => {
  it("ScienceWorld", () => {
    const { sources, episodes } = environmentFixture("scienceworld");
    const { graph, decisions, ...rest } = collect(sources, episodes);
    expect(rest).toMatchObject({ tasks: 11, tasksWithoutSources: 0, recorded: 195, evidence: null });
    expect(graph).toMatchObject({
      sources: 195,
      successes: 105,
      decisions: 3554,
      attempts: 140 + 409,
      visits: 3554 + 195,
      locatedVisits: 3554 + 195 - 47,
    });
    expect(decisions).toMatchObject({
      episodes: 73,
      wonEpisodes: 33,
      decisions: 1699,
      matched: 763,
      cases: {
        unmatched_failure: 733,
        matched_success: 514,
        matched_no_success: 249,
        unmatched_success: 203,
      },
      success: { current: 506, none: 483, historical: 433, unaligned: 156, unverified: 121 },
      failure: { none: 747, historical: 539, current: 239, unaligned: 156, unverified: 18 },
      winners: { none: 1185, source: 506, student: 8 },
    });
  });

  it("ALFWorld", () => {
    const { sources, episodes } = environmentFixture("alfworld");
    const { graph, decisions, recorded } = collect(sources, episodes);
    // Two records are not complete and replay-checked: ALFWorld's library does not hold them.
    expect(recorded).toBe(87);
    expect(graph).toMatchObject({ sources: 85, successes: 61, failures: 24 });
    expect(decisions).toMatchObject({
      episodes: 30,
      wonEpisodes: 20,
      decisions: 495,
      matched: 216,
      cases: { matched_no_success: 15, matched_success: 201, unmatched_failure: 238, unmatched_success: 41 },
      success: { current: 175, historical: 163, none: 67, unaligned: 90, unverified: 0 },
      failure: { current: 15, historical: 124, none: 296, unaligned: 60, unverified: 0 },
      winners: { none: 294, source: 175, student: 26 },
    });
  });

  it("WebShop", () => {
    const { sources, episodes } = environmentFixture("webshop");
    const { graph, decisions } = collect(sources, episodes);
    expect(graph).toMatchObject({ sources: 65, decisions: 602, successes: 25, failures: 35 });
    expect(decisions).toMatchObject({
      episodes: 24,
      wonEpisodes: 15,
      decisions: 262,
      matched: 178,
      cases: { matched_no_success: 113, matched_success: 65, unmatched_failure: 54, unmatched_success: 30 },
      success: { current: 62, historical: 21, none: 97, unaligned: 16, unverified: 66 },
      failure: { current: 107, historical: 37, none: 95, unaligned: 6, unverified: 17 },
      winners: { none: 197, source: 62, student: 3 },
    });
  });

  it("composition is what the expected records retain, counted plainly", () => {
    for (const environment of ["scienceworld", "alfworld", "webshop"]) {
      const { sources, episodes, expected } = environmentFixture(environment);
      const count = (success: boolean, failure: boolean) =>
        expected.filter((r) => (r.success !== null) === success && (r.failure !== null) === failure).length;
      expect(collect(sources, episodes).decisions!.outcomes).toEqual({
        successOnly: count(true, false),
        both: count(true, true),
        failureOnly: count(false, true),
        unknown: 0,
        none: count(false, false),
      });
    }
  });
});

it("counts a record of unknown outcome as no failure", () => {
  const raw = (id: string, outcome: Partial<Source["outcome"]>) =>
    source(id, "ABC", { outcome: { verified: false, ...outcome } });
  const unknown = raw("unknown", { success: false, outcome_unknown: true });
  const outcomes = (...sources: Source[]) => collect(sources, [student("X-", false)]).decisions!.outcomes;
  const none = { successOnly: 0, both: 0, failureOnly: 0, unknown: 0, none: 0 };
  expect(outcomes(unknown)).toEqual({ ...none, unknown: 1 });
  expect(outcomes(unknown, raw("claimed", {}))).toEqual({ ...none, unknown: 1 });
  expect(outcomes(raw("lost", { success: false }))).toEqual({ ...none, failureOnly: 1 });
});

describe("coverage", () => {
  it("counts tasks with a trusted success among the first K repetitions, and with augmentation added", () => {
    const { sources } = environmentFixture("scienceworld");
    const tasks = [...byTask(sources).values()];
    const won = ({ outcome }: Source) => outcome.success && outcome.complete && outcome.verified;
    const added = ({ origin }: Source) => origin.kind === "planner";
    const covered = (pool: (source: Source) => boolean) =>
      tasks.filter((records) => records.some((source) => won(source) && pool(source))).length;
    const budgets = [1, 2, 4, 8, 16];
    const { coverage } = collect(sources, [], { budgets });
    expect(coverage).toEqual(
      [...budgets, null].map((k) => {
        const sampled = (source: Source) => !added(source) && source.repetition < (k ?? Infinity);
        return {
          sourcesPerTask: k,
          covered: covered(sampled),
          coveredAugmented: covered((source) => sampled(source) || added(source)),
        };
      }),
    );
    const all = coverage.at(-1)!;
    expect(all.coveredAugmented).toBeGreaterThan(all.covered);
  });

  it("counts no plan that the environment's library does not hold", () => {
    const plan = (environment: string, decisions: number) => ({
      ...source("planner:0", "A".repeat(decisions + 1)),
      environment,
      origin: { kind: "planner" as const },
    });
    const covered = (record: Source) => collect([record], []).coverage.at(-1)!.coveredAugmented;
    expect(covered(plan("alfworld", 31))).toBe(0);
    expect(covered(plan("alfworld", 30))).toBe(1);
    expect(covered(plan("scienceworld", 31))).toBe(1);
  });

  it("never falls with K, is over all tasks, and does not depend on the selection", () => {
    const { sources, episodes } = environmentFixture("scienceworld");
    const gone = sources.filter(({ task }) => task !== sources[0]!.task);
    const all = collect(gone, episodes);
    expect(all).toMatchObject({ tasks: 11, tasksWithoutSources: 1 });
    expect(all.decisions!.decisions).toBe(1699);
    const few = collect(gone, [], { selection: { sourcesPerTask: 1, augmentation: false } });
    expect(few.coverage).toEqual(all.coverage);
    all.coverage.reduce((before, row) => {
      expect(row.covered).toBeGreaterThanOrEqual(before.covered);
      return row;
    });
    expect(few.graph.sources).toBe(10);
    expect(few.decisions).toBeNull();
  });
});

describe("decisions under the controls", () => {
  const { sources, episodes } = environmentFixture("scienceworld");
  const under = (selection: Selection) => collect(sources, episodes, { selection }).decisions!;
  const full = under({});

  it("keep matches and cases, and lose what the control leaves out", () => {
    const { success, failure, outcomes, ...found } = under({ control: "success-only" });
    const { success: _, failure: __, outcomes: ___, ...same } = full;
    expect(found).toEqual(same);
    expect(success).toEqual(full.success);
    expect(failure).toEqual({ current: 0, historical: 0, unaligned: 0, unverified: 0, none: 1699 });
    expect(outcomes).toEqual({
      successOnly: full.outcomes.successOnly + full.outcomes.both,
      both: 0,
      failureOnly: 0,
      unknown: 0,
      none: full.outcomes.none + full.outcomes.failureOnly,
    });
    expect(under({ control: "hindsight-only" }).outcomes).toEqual({
      successOnly: 0,
      both: 0,
      failureOnly: 0,
      unknown: 0,
      none: 1699,
    });
    const { success: fixed } = under({ control: "minimum-prefix" });
    expect(fixed.unaligned + fixed.none).toBe(1699);
  });

  it("match no less with a larger budget", () => {
    const matched = [1, 4, 8, 16].map(
      (sourcesPerTask) => under({ sourcesPerTask, augmentation: false }).matched,
    );
    expect(matched).toEqual([...matched].sort((a, b) => a - b));
    expect(matched.at(-1)).toBeLessThanOrEqual(full.matched);
  });

  it("add up, on any records", () => {
    fc.assert(
      fc.property(library, fc.array(studentEpisode, { minLength: 1, maxLength: 3 }), (records, played) => {
        const { decisions } = collect(records, played);
        const total = played.reduce((sum, episode) => sum + episode.decisions.length, 0);
        expect(decisions!.decisions).toBe(total);
        for (const group of ["cases", "winners", "success", "failure", "outcomes"] as const) {
          expect(Object.values(decisions![group]).reduce((sum, count) => sum + count, 0)).toBe(total);
        }
      }),
    );
  });
});

describe("the collector", () => {
  it("counts nothing as nothing, and no task twice", () => {
    expect(new StatisticsCollector().result()).toMatchObject({
      tasks: 0,
      graph: emptyGraphTotals(),
      decisions: null,
      evidence: null,
    });
    const collector = new StatisticsCollector();
    const task = { environment: "scienceworld", task: "t", sources: [], episodes: [] };
    collector.add(task);
    expect(() => collector.add(task)).toThrow(InputError);
    expect(() => collector.add({ ...task, environment: "alfworld" })).not.toThrow();
  });
});
