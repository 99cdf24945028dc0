import { describe, expect, it } from "vitest";
import { compareEvaluations, type EvaluatedEpisode, evaluationResults } from "./metrics.ts";

/** `wins` has a text per task: a digit per repetition, 1 where it won. */
function played(wins: Record<string, string>, more: Partial<EvaluatedEpisode> = {}): EvaluatedEpisode[] {
  return Object.entries(wins).flatMap(([task, digits]) =>
    [...digits].map((digit, seed) => ({
      ...{ task, type: null, seed, score: null, decisions: seed + 1 },
      ...more,
      success: digit === "1",
    })),
  );
}

describe("evaluationResults", () => {
  it("gives mean and sample SD over repetitions, and pass@K over tasks", () => {
    const results = evaluationResults(played({ a: "1100", b: "1000", c: "0000", d: "1111" }));
    // SR of the repetitions: 75, 50, 25, 25.
    expect(results.per_seed.map(({ sr }) => sr)).toEqual([75, 50, 25, 25]);
    expect(results.sr.mean).toBeCloseTo(43.75, 12);
    expect(results.sr.sd).toBeCloseTo(Math.sqrt((31.25 ** 2 + 6.25 ** 2 + 2 * 18.75 ** 2) / 3), 12);
    expect(results).toMatchObject({
      tasks: 4,
      seeds: [0, 1, 2, 3],
      score: null,
      rounds: { mean: 2.5 },
      pass_at_k: 75,
      score_at_k: null,
      per_type: {},
    });
    const [low, high] = results.sr_interval!;
    expect(low).toBeLessThan(43.75);
    expect(high).toBeGreaterThan(43.75);
    expect(low).toBeGreaterThanOrEqual(0);
    expect(high).toBeLessThanOrEqual(100);
  });

  it("takes the best of the repetitions for Score@K", () => {
    const scores = [10, 40, 0, 100];
    const episodes = played({ a: "00", b: "01" }).map((episode, n) => ({ ...episode, score: scores[n]! }));
    expect(evaluationResults(episodes)).toMatchObject({
      score: { mean: 37.5 },
      score_at_k: 70,
      per_seed: [{ score: 5 }, { score: 70 }],
    });
  });

  it("has the same figures for each type of task, and none for one repetition's SD", () => {
    const results = evaluationResults([
      ...played({ a: "1", b: "0" }, { type: "heat" }),
      ...played({ c: "1" }, { type: "cool" }),
    ]);
    expect(Object.keys(results.per_type)).toEqual(["cool", "heat"]);
    expect(results.per_type.heat).toMatchObject({ tasks: 2, sr: { mean: 50, sd: null } });
    expect(results.per_type.cool).toMatchObject({ tasks: 1, sr: { mean: 100, sd: null } });
  });

  it("has no interval where all tasks are alike, or there is one, and the same one each time", () => {
    for (const alike of [played({ a: "11", b: "11" }), played({ a: "10" }), played({ a: "00", b: "00" })])
      expect(evaluationResults(alike).sr_interval).toBeNull();
    const mixed = played({ a: "10", b: "11", c: "00" });
    expect(evaluationResults(mixed).sr_interval).toEqual(evaluationResults(mixed).sr_interval);
  });

  it.each<[string, EvaluatedEpisode[], string]>([
    ["no episode", [], "no episode was played; expected at least one"],
    ["a pair twice", [...played({ a: "1" }), ...played({ a: "0" })], 'task "a" was played twice with seed 0'],
    ["a pair that is missing", played({ a: "11", b: "1" }), 'task "b" was not played with seed 1'],
    [
      "scores in some episodes",
      [...played({ a: "1" }), ...played({ b: "1" }, { score: 3 })],
      'task "b": expected a score in every episode or in none',
    ],
  ])("refuses %s", (_, episodes, message) => {
    expect(() => evaluationResults(episodes)).toThrow(message);
  });

  it("leaves out a task with a technical end, and names it; without a task left there is no figure", () => {
    const failed = played({ b: "01" }).map((episode) =>
      episode.seed === 0 ? { ...episode, technical: "the server went away" } : episode,
    );
    const results = evaluationResults([...played({ a: "11" }), ...failed]);
    expect(results).toMatchObject({ tasks: 1, sr: { mean: 100 }, pass_at_k: 100 });
    expect(results.technical).toEqual([{ task: "b", seed: 0, reason: "the server went away" }]);
    expect(() => evaluationResults(failed)).toThrow(
      "no task is left: each has an episode that ended for a technical reason (the server went away)",
    );
  });
});

describe("compareEvaluations", () => {
  it("pairs episodes by task and seed", () => {
    const comparison = compareEvaluations(played({ a: "11", b: "10" }), played({ a: "10", b: "01" }));
    expect(comparison).toMatchObject({
      tasks: 2,
      seeds: [0, 1],
      sr: { difference: 25 },
      score: null,
      pairs: { both: 1, only_a: 2, only_b: 1, neither: 0 },
    });
    // Per task the differences are 50 and 0: so the resampled means lie between.
    expect(comparison.sr.interval).toEqual([0, 50]);
  });

  it.each<[string, Record<string, string>, Record<string, string>, string]>([
    ["a task of the first only", { a: "1", b: "1" }, { a: "1" }, 'task "b" is only in the first evaluation'],
    [
      "a task of the second only",
      { a: "1" },
      { a: "1", b: "1" },
      'task "b" is only in the second evaluation',
    ],
    ["a seed of the first only", { a: "11" }, { a: "1" }, "seed 1 of task"],
    ["a seed of the second only", { a: "1" }, { a: "11" }, "expected the same in both"],
  ])("refuses %s", (_, a, b, message) => {
    expect(() => compareEvaluations(played(a), played(b))).toThrow(message);
  });

  it("leaves out a task that either student could not play", () => {
    const a = played({ a: "1", b: "1", c: "0" });
    const b = played({ a: "0", b: "0", c: "0" });
    const failing = (episodes: EvaluatedEpisode[], name: string) =>
      episodes.map((episode) => (episode.task === name ? { ...episode, technical: "x" } : episode));
    expect(compareEvaluations(failing(a, "c"), failing(b, "b"))).toMatchObject({
      tasks: 1,
      left_out: ["b", "c"],
      sr: { difference: 100 },
    });
  });
});
