import { expect, it } from "vitest";
import { cutAt, depthAfterProbe, isProbe } from "./adaptive-depth.ts";

const RULE = { kind: "adaptive-depth", probe: 8, coverage: 0.8, smoothing: 0.3, least: 2 } as const;
const episode = (success: boolean, ...differences: number[]) => ({
  success,
  turns: differences.map((difference) => ({ difference, tokens: 1 })),
});

it("probes every eighth batch, the first one included", () => {
  expect([0, 1, 7, 8, 9, 16].map((s) => isProbe(RULE, s))).toEqual([true, false, false, true, false, true]);
});

it("H_eff: the centroid of the positive divergence, weighed by how many episodes reach a turn", () => {
  // Turn 0: K = 2, both; turn 1: K = −1, counts 0; turn 2: K = 4, one of two. q = 2, 0, 2: centroid 1. None succeeded:
  // the quantile is over all, 0.8 between depths 1 and 2: 1.8.
  const episodes = [episode(false, 3, -2, 4), episode(false, 1, 0)];
  expect(depthAfterProbe({ ...RULE, coverage: 0 }, null, episodes)).toBe(1);
  expect(depthAfterProbe(RULE, null, episodes)).toBeCloseTo(1.8, 12);
  // With depth 0 covered alone, the centroid decides; more tokens of a turn do not make it weigh more.
  const long = [
    { success: true, turns: [{ difference: 0, tokens: 5 }] },
    {
      success: false,
      turns: [
        { difference: 0, tokens: 5 },
        { difference: 9, tokens: 90 },
      ],
    },
  ];
  expect(depthAfterProbe(RULE, null, long)).toBe(1);
});

it("H_cov: the quantile of successful depths alone, and the larger of both", () => {
  const successes = [
    episode(true, 1, 0, 0),
    episode(true, 1, 0, 0, 0, 0),
    episode(false, ...Array(9).fill(0)),
  ];
  // Depths 2 and 4 of the successful ones: 0.8 of the way is 3.6.
  expect(depthAfterProbe(RULE, null, successes)).toBeCloseTo(3.6, 12);
});

it("averages over probes, and cuts one turn behind, between the least depth and the horizon", () => {
  const deep = [episode(true, ...Array(11).fill(0))];
  expect(depthAfterProbe(RULE, 3.6, deep)).toBeCloseTo(0.7 * 3.6 + 0.3 * 10, 12);
  expect([null, 0, 3.6, 99].map((average) => cutAt(RULE, average, 30))).toEqual([30, 2, 5, 30]);
});
