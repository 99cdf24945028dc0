import { expect, it } from "vitest";
import type { GateDecision } from "./gate-case.ts";
import { FEWEST_EPISODES, gateOrder, summarizeGate } from "./gate-summary.ts";

const scored = (
  episode: string,
  decision: number,
  none: number,
  graph: number,
  taken = false,
): GateDecision => ({
  environment: "e",
  task: episode === "c" ? "u" : "t",
  episode,
  decision,
  actions: [{ action: "go", optimal: true, taken }],
  readings: [
    { context: "none", promptTokens: 10, logprobs: [Math.log(none)], optimal: none },
    { context: "graph", promptTokens: 40, logprobs: [Math.log(graph)], optimal: graph },
  ],
});

it("has means over decisions and differences by pairs, with intervals over episodes", () => {
  // Episode a has two decisions: 0.2 and 0.4 without evidence; means are over the four decisions, not over episodes.
  const summary = summarizeGate([
    scored("a", 0, 0.2, 0.5, true),
    scored("a", 1, 0.4, 0.7),
    scored("b", 0, 0.6, 0.9),
    scored("c", 0, 0.4, 0.7),
  ]);
  expect(summary).toMatchObject({ decisions: 4, episodes: 3, tasks: 2, studentOptimal: 1 });
  expect(summary.contexts.map(({ context }) => context)).toEqual(["none", "graph"]);
  expect(summary.contexts[0]!.optimal.value).toBeCloseTo(0.4, 12);
  expect(summary.contexts[1]!.optimal.value).toBeCloseTo(0.7, 12);
  expect(summary.contexts[1]!.promptTokens).toBe(40);
  const [pair, ...others] = summary.differences;
  expect(others).toEqual([]);
  expect(pair).toMatchObject({ from: "none", to: "graph", separated: false, differing: 4 });
  // Every decision gains 0.3: the pairs have no spread, though the means have.
  for (const end of pair!.difference.interval!) expect(end).toBeCloseTo(0.3, 12);
  // Of the means of three episodes, all resamples lie between the lowest one and the highest one.
  const [low, high] = summary.contexts[0]!.optimal.interval!;
  expect(low).toBeCloseTo(0.3, 12);
  expect(high).toBeCloseTo(0.6, 12);
});

it("separates nothing where the interval holds 0, or where there is none", () => {
  const both = ["a", "b", "c", "d", "e", "f"].map((episode, n) =>
    n % 2 === 0 ? scored(episode, 0, 0.2, 0.5) : scored(episode, 0, 0.5, 0.2),
  );
  const [pair] = summarizeGate(both).differences;
  expect(pair!.difference.value).toBeCloseTo(0, 12);
  const [low, high] = pair!.difference.interval!;
  expect(low).toBeLessThan(0);
  expect(high).toBeGreaterThan(0);
  expect(pair!.separated).toBe(false);
  const [alone] = summarizeGate([scored("a", 0, 0.2, 0.5), scored("a", 1, 0.2, 0.5)]).differences;
  expect(alone).toMatchObject({ separated: false, difference: { interval: null } });
  expect(summarizeGate([])).toMatchObject({ decisions: 0, contexts: [], differences: [] });
});

it("separates from six episodes on: fewer of one sign are no evidence", () => {
  const gains = [0.1, 0.2, 0.3, 0.1, 0.2, 0.3].map((gain, n) => scored(`e${n}`, 0, 0.2, 0.2 + gain));
  const separated = (of: GateDecision[]) => summarizeGate(of).differences[0]!.separated;
  expect(gains).toHaveLength(FEWEST_EPISODES);
  expect(separated(gains)).toBe(true);
  // As many decisions, but two of one episode.
  expect(separated([...gains.slice(1), scored("e1", 1, 0.2, 0.3)])).toBe(false);
  expect(separated([...gains.slice(1), scored("e0", 0, 0.9, 0.1)])).toBe(false);
});

it("draws the decisions by the seed: a smaller limit takes the first of a larger one", () => {
  const all = Array.from({ length: 30 }, (_, i) => i);
  const ten = gateOrder(all, 1, 10);
  expect(gateOrder(all, 1).slice(0, 10)).toEqual(ten);
  expect(new Set(gateOrder(all, 1)).size).toBe(30);
  expect(gateOrder(all, 2, 10)).not.toEqual(ten);
});
