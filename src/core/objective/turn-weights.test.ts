import { describe, expect, it } from "vitest";
import {
  groupAdvantages,
  mixedAdvantage,
  responseObjective,
  stepDivergenceWeights,
  turnBalancedWeights,
  turnDivergence,
  turnUncertainty,
  turnUtilityWeights,
} from "./index.ts";

describe("TurnOPD's balance", () => {
  // Two episodes: turn 0 has 2 + 4 tokens, turn 1 has 2 (the other episode is over), turn 2 none.
  const responses = [
    { decision: 0, tokens: 2 },
    { decision: 1, tokens: 2 },
    { decision: 2, tokens: 0 },
    { decision: 0, tokens: 4 },
  ];

  it("is the mean over tokens at 0, equal turns at 1, and a mixture between", () => {
    expect([...turnBalancedWeights(responses, 0)]).toEqual([1 / 8, 1 / 8, 0, 1 / 8]);
    expect([...turnBalancedWeights(responses, 1)]).toEqual([1 / 12, 1 / 4, 0, 1 / 12]);
    for (const [n, weight] of turnBalancedWeights(responses, 0.5).entries())
      expect(weight).toBeCloseTo([5 / 48, 3 / 16, 0, 5 / 48][n]!, 15);
  });
});

describe("SOD's step weights", () => {
  const rule = { epsilon: 1e-6, delta: 0.2 };

  it("follow the published erroneous case: 0.218 → 1.284 gives 0.17", () => {
    const weights = stepDivergenceWeights([0.218, 1.284], rule);
    expect(weights[0]).toBe(1);
    expect(weights[1]).toBeCloseTo(0.17, 2);
  });

  it("shrink with divergence, recover with it, and end at 1 + δ; the product goes on unbounded", () => {
    // (d_1 + ε)/(d_k + ε): 1/2, 1/4, then 4 (bounded to 1.2), then 1 again.
    expect(stepDivergenceWeights([1, 2, 4, 0.25, 1], { epsilon: 0, delta: 0.2 })).toEqual([
      1, 0.5, 0.25, 1.2, 1,
    ]);
  });
});

describe("ATOD's T-DUR", () => {
  it("means over tokens of |log p − log q| and of −log p", () => {
    expect(turnDivergence([-1, -2], [-3, -1])).toBe(1.5);
    expect(turnUncertainty([-1, -2])).toBe(1.5);
  });

  it("soft-or of what the episode's least and most are 0 and 1 of", () => {
    const turns = [
      { divergence: 1, uncertainty: 4 },
      { divergence: 3, uncertainty: 2 },
      { divergence: 2, uncertainty: 3 },
      { divergence: 1, uncertainty: 2 },
    ];
    expect(turnUtilityWeights(turns)).toEqual([1, 1, 0.75, 0]);
  });

  it("a confident turn that the teacher disagrees with still counts: the published case gives 0.60", () => {
    // d and h of ALFWorld's published example: S0, S2, S3, S5, S6.
    const divergence = [0.101, 0.228, 0.022, 0.019, 0.138];
    const uncertainty = [0.037, 0.025, 0.01, 0.006, 0.008];
    const weights = turnUtilityWeights(
      divergence.map((d, n) => ({ divergence: d, uncertainty: uncertainty[n]! })),
    );
    const published = [1, 1, 0.15, 0, 0.6];
    // d and h are published with three digits, and differ by few of them.
    for (const [n, weight] of weights.entries()) expect(Math.abs(weight - published[n]!)).toBeLessThan(0.01);
  });

  it("is 1 − (1/2)² where an episode's turns do not differ", () => {
    expect(turnUtilityWeights([{ divergence: 1, uncertainty: 1 }])).toEqual([0.75]);
  });
});

describe("GRPO's advantages", () => {
  it("(r − mean)/(std + 10⁻⁶), with n − 1", () => {
    // Mean 1/4, squared differences 9/16 + 3·1/16 = 3/4, std = √(1/4) = 1/2.
    expect(groupAdvantages([1, 0, 0, 0])).toEqual([0.75 / 0.500001, ...Array(3).fill(-0.25 / 0.500001)]);
    // Mean 20, std 10.
    expect(groupAdvantages([10, 20, 30])).toEqual([-10 / 10.000001, 0, 10 / 10.000001]);
  });

  it("are 0 in a group that agrees, and for a task with one rollout", () => {
    expect(groupAdvantages([1, 1, 1])).toEqual([0, 0, 0]);
    expect(groupAdvantages([1])).toEqual([0]);
  });
});

describe("an advantage with terms", () => {
  it("A = c·(log q − log p) + r, the teacher's signal alone without them, the reward alone without a teacher", () => {
    expect([...mixedAdvantage([-1, -2], [-2, -1])]).toEqual([1, -1]);
    expect([...mixedAdvantage([-1, -2], [-2, -1], { teacherScale: 0.5, rewardAdvantage: 2 })]).toEqual([
      2.5, 1.5,
    ]);
    expect([...mixedAdvantage(null, [-2, -1], { rewardAdvantage: -0.5 })]).toEqual([-0.5, -0.5]);
  });

  it("goes through the clipped surrogate as any other", () => {
    const part = responseObjective([-1], null, [-1 - Math.log(1.5)], 0.5, 0.2, { rewardAdvantage: 2 });
    expect(part.ratio[0]).toBeCloseTo(1.5, 12);
    expect([...part.clipped]).toEqual([1]);
    expect(part.loss).toBeCloseTo(-0.5 * 1.2 * 2, 12);
  });
});
