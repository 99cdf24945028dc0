import { expect, it } from "vitest";
import type { LiveOutcome } from "../../compute/runs/live-run.ts";
import {
  collectedText,
  comparisonOf,
  differingOf,
  evaluationOf,
  isComparable,
  liveRunWords,
} from "./live-run-results.ts";
import type { LiveRun } from "./live-runs-store.ts";

const outcome = (task: string, seed: number, more: Partial<LiveOutcome> = {}): LiveOutcome => ({
  ...{ task, seed, type: null, success: false, score: null, decisions: 3 },
  ...more,
});

function run(outcomes: readonly LiveOutcome[], change: Partial<LiveRun> = {}): LiveRun {
  const played = new Map(outcomes.map((each) => [`${each.task}#${each.seed}`, each]));
  return {
    ...{ id: "evaluate-1", state: "done", message: null, created: "2026-01-01T00:00:00Z", kept: true },
    ...{
      model: { name: "m", digest: "d" },
      ids: [...played.keys()],
      outcomes: played,
      share: 0,
      since: null,
      endedNow: false,
      elsewhere: false,
    },
    plan: {
      ...{ kind: "evaluate", role: "student", environment: "alfworld" },
      ...{ tasks: ["a", "b"], seeds: [0], at_once: 32 },
    },
    ...change,
  };
}

it("gives the figures of an evaluation, and the paired difference of two", () => {
  const better = run([outcome("a", 0, { success: true }), outcome("b", 0, { success: true })]);
  const worse = run([outcome("b", 0), outcome("a", 0, { success: true })]);
  expect(evaluationOf(worse)).toMatchObject({ results: { tasks: 2, sr: { mean: 50 }, pass_at_k: 50 } });
  expect(isComparable(better, worse)).toBe(true);
  expect(comparisonOf(better, worse)).toMatchObject({
    results: { sr: { difference: 50 }, pairs: { both: 1, only_a: 1, only_b: 0, neither: 0 } },
  });
  expect(isComparable(better, run([outcome("a", 0)]))).toBe(false);
  // The protocol's own temperature is no difference, another one is.
  const set = (own: object) => ({ ...worse, plan: { ...worse.plan, ...own } });
  expect(differingOf(better, set({ temperature: 0.4 }))).toEqual([]);
  expect(differingOf(better, set({ temperature: 1, prompt: { name: "p", template: {} } }))).toEqual([
    "temperature 0.4 here, 1 there",
    "another prompt",
  ]);
  expect(differingOf(set({ top_k: 5, max_decisions: 1 }), set({ max_decisions: 40 }))).toEqual([
    "top-k 5 here, none there",
    "at most 1 decision here, 40 there",
  ]);
});

it("says why there are no figures", () => {
  expect(evaluationOf(run([outcome("a", 0, { technical: "the worker ended" })]))).toEqual({
    problem: "no task is left: each has an episode that ended for a technical reason (the worker ended)",
  });
});

it("says what a collection has, plans without a record apart", () => {
  const collection = run([
    outcome("a", 0, { success: true, verified: true }),
    outcome("a", 1, { verified: false, technical: "the worker ended" }),
  ]);
  const outcomes = new Map<string, LiveOutcome | null>([...collection.outcomes, ["a#plan", null]]);
  expect(collectedText({ ...collection, outcomes })).toBe(
    "2 executions, 1 successful, 1 verified, 1 ended for a technical reason",
  );
  expect(liveRunWords(collection)).toBe("alfworld, 2 tasks × seed 0");
  const own = { temperature: 0.7, top_p: 0.9, top_k: 5, max_decisions: 1, max_tokens: 8 };
  const prompt = { name: "own.json", template: {} };
  expect(liveRunWords({ plan: { ...collection.plan, ...own, prompt } })).toBe(
    "alfworld, 2 tasks × seed 0, T = 0.7, top-p = 0.9, top-k = 5, at most 1 decision, 8 tokens per response, prompt own.json",
  );
});
