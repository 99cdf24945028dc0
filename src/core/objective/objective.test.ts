import { describe, expect, it } from "vitest";
import { readGolden } from "../../../test/support/golden.ts";
import fc from "../../../test/support/property.ts";
import {
  advantage,
  clippedSurrogate,
  episodeWeights,
  evidenceShift,
  opdFeedback,
  responseObjective,
} from "./index.ts";

const EPSILON = 0.2;

describe.each(["qwen3-a", "qwen3-b"])("golden gradient file of %s", (model) => {
  const golden = readGolden(`${model}/gradient.safetensors`);
  const decisions = [...golden.keys()]
    .filter((key) => key.endsWith("/teacher_logp"))
    .map((key) => key.slice(0, -"/teacher_logp".length))
    .sort();
  const get = (decision: string, name: string): number[] => golden.get(`${decision}/${name}`)!;
  const weights = episodeWeights(
    decisions.map((decision) => ({ episode: decision.slice(0, 2), tokens: get(decision, "logp").length })),
  );

  it.each(decisions)("%s: weight, advantage, ratio, objective and clipped branch", (decision) => {
    const result = responseObjective(
      get(decision, "logp"),
      get(decision, "teacher_logp"),
      get(decision, "old_logp"),
      weights[decisions.indexOf(decision)]!,
      EPSILON,
    );
    expect([...result.clipped]).toEqual(get(decision, "clipped"));
    for (const name of ["advantage", "ratio", "objective"] as const) {
      const expected = get(decision, name);
      result[name].forEach((value, i) => {
        expect(Math.abs(value - expected[i]!)).toBeLessThanOrEqual(
          2e-6 * Math.max(1, Math.abs(expected[i]!)),
        );
      });
    }
    for (const weight of get(decision, "weight")) {
      expect(weights[decisions.indexOf(decision)]).toBeCloseTo(weight, 8);
    }
  });

  it("the parts of the responses add up to the loss", () => {
    const loss = decisions.reduce(
      (sum, decision, i) =>
        sum +
        responseObjective(
          get(decision, "logp"),
          get(decision, "teacher_logp"),
          get(decision, "old_logp"),
          weights[i]!,
          EPSILON,
        ).loss,
      0,
    );
    expect(loss).toBeCloseTo(golden.get("loss")![0]!, 5);
  });

  it("exercises both branches", () => {
    const clipped = decisions.flatMap((decision) => get(decision, "clipped"));
    expect(new Set(clipped)).toEqual(new Set([0, 1]));
  });
});

describe("clipped surrogate", () => {
  const number = fc.double({ min: -6, max: 6, noNaN: true });

  it("has the slope that finite differences give, the advantage held constant", () => {
    fc.assert(
      fc.property(number, number, number, (current, old, tokenAdvantage) => {
        const at = (logp: number) => clippedSurrogate(Math.exp(logp - old), tokenAdvantage, EPSILON);
        const ratio = Math.exp(current - old);
        fc.pre(Math.abs(ratio - 0.8) > 1e-3 && Math.abs(ratio - 1.2) > 1e-3);
        const h = 1e-6;
        const numeric = (at(current + h).objective - at(current - h).objective) / (2 * h);
        const { slope } = at(current);
        expect(Math.abs(numeric - slope)).toBeLessThanOrEqual(1e-5 * Math.max(1, Math.abs(slope)));
      }),
    );
  });

  it("never exceeds either branch and clips only where the gradient would push further out", () => {
    fc.assert(
      fc.property(fc.double({ min: 0, max: 4, noNaN: true }), number, (ratio, tokenAdvantage) => {
        const token = clippedSurrogate(ratio, tokenAdvantage, EPSILON);
        expect(token.objective).toBeLessThanOrEqual(ratio * tokenAdvantage);
        expect(token.clipped).toBe(
          (tokenAdvantage > 0 &&
            ratio > 1 + EPSILON &&
            ratio * tokenAdvantage > (1 + EPSILON) * tokenAdvantage) ||
            (tokenAdvantage < 0 &&
              ratio < 1 - EPSILON &&
              ratio * tokenAdvantage > (1 - EPSILON) * tokenAdvantage),
        );
      }),
    );
  });

  it("keeps the whole slope on the ends of the interval, where the branches tie", () => {
    for (const ratio of [1 - EPSILON, 1, 1 + EPSILON]) {
      for (const tokenAdvantage of [-2, 3]) {
        const expected = ratio * tokenAdvantage;
        expect(clippedSurrogate(ratio, tokenAdvantage, EPSILON)).toEqual({
          objective: expected,
          slope: expected,
          clipped: false,
        });
      }
    }
  });

  it("gives nothing where the advantage is zero, even at an infinite ratio", () => {
    expect(clippedSurrogate(Number.POSITIVE_INFINITY, 0, EPSILON)).toEqual({
      objective: 0,
      slope: 0,
      clipped: false,
    });
  });

  it("bounds a positive advantage at an infinite ratio", () => {
    const token = clippedSurrogate(Number.POSITIVE_INFINITY, 2, EPSILON);
    expect(token.objective).toBeCloseTo(2.4, 12);
    expect(token.slope).toBe(0);
  });
});

describe("weights and feedback", () => {
  it("averages over tokens within an episode, then over episodes", () => {
    const items = [
      { episode: "a", tokens: 3 },
      { episode: "b", tokens: 4 },
      { episode: "a", tokens: 5 },
    ];
    expect([...episodeWeights(items)]).toEqual([1 / 16, 1 / 8, 1 / 16]);
  });

  it("sums to one over all tokens, and an episode without tokens still counts in N", () => {
    const items = [
      { episode: "a", tokens: 2 },
      { episode: "b", tokens: 0 },
    ];
    expect([...episodeWeights(items)]).toEqual([1 / 4, 0]);
    fc.assert(
      fc.property(
        fc.array(
          fc.record({ episode: fc.constantFrom("a", "b", "c"), tokens: fc.integer({ min: 1, max: 40 }) }),
          {
            minLength: 1,
          },
        ),
        (records) => {
          const weights = episodeWeights(records);
          const total = records.reduce((sum, record, i) => sum + weights[i]! * record.tokens, 0);
          expect(total).toBeCloseTo(1, 12);
        },
      ),
    );
  });

  it("Eq. (13): the student's term cancels between two teacher contexts", () => {
    const student = [-0.5, -2, -1.25];
    const plain = [-1, -1, -1];
    const conditioned = [-0.25, -3, -1];
    const shift = evidenceShift(conditioned, plain);
    const difference = advantage(conditioned, student).map((a, i) => a - opdFeedback(plain, student)[i]!);
    expect([...difference]).toEqual([...shift]);
  });

  it("refuses arrays of different length", () => {
    expect(() => opdFeedback([1], [1, 2])).toThrow(RangeError);
    expect(() => responseObjective([1], [1], [1, 2], 1, 0.2)).toThrow(RangeError);
  });
});
