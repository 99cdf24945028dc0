import { describe, expect, it } from "vitest";
import fc from "../../../test/support/property.ts";
import { responseDivergence, responseObjective, reverseKl, topReverseKl } from "./index.ts";

const logits = (length: number) =>
  fc.array(fc.double({ min: -8, max: 8, noNaN: true }), { minLength: length, maxLength: length });

/** KL(p ‖ q) from probabilities, as its definition has it. */
function plainKl(student: readonly number[], teacher: readonly number[]): number {
  const softmax = (x: readonly number[]) => {
    const powers = x.map(Math.exp);
    const sum = powers.reduce((a, b) => a + b);
    return powers.map((power) => power / sum);
  };
  const [p, q] = [softmax(student), softmax(teacher)];
  return p.reduce((sum, share, v) => sum + share * Math.log(share / q[v]!), 0);
}

describe("reverse KL of a token", () => {
  it("is worked out by hand for p = (1/2, 1/4, 1/4) and q = (1/4, 1/4, 1/2)", () => {
    const { kl, slopes } = reverseKl([0.5, 0.25, 0.25].map(Math.log), [0.25, 0.25, 0.5].map(Math.log));
    // 1/2 ln 2 + 0 − 1/4 ln 2.
    expect(kl).toBeCloseTo(Math.LN2 / 4, 14);
    // 1/2 (ln 2 − ln 2 / 4), 1/4 (0 − ln 2 / 4), 1/4 (−ln 2 − ln 2 / 4).
    [3 / 8, -1 / 16, -5 / 16].forEach((share, v) => {
      expect(slopes[v]).toBeCloseTo(share * Math.LN2, 14);
    });
  });

  it("is that of the definition, and constants added to either side change nothing", () => {
    fc.assert(
      fc.property(logits(6), logits(6), fc.double({ min: -50, max: 50, noNaN: true }), (p, q, constant) => {
        const { kl, slopes } = reverseKl(p, q);
        expect(kl).toBeCloseTo(plainKl(p, q), 9);
        expect(slopes.reduce((a, b) => a + b)).toBeCloseTo(0, 9);
        const moved = reverseKl(
          p.map((x) => x + constant),
          q.map((x) => x - constant),
        );
        expect(moved.kl).toBeCloseTo(kl, 9);
      }),
    );
  });

  it("has the slopes that finite differences give", () => {
    fc.assert(
      fc.property(logits(5), logits(5), fc.nat(4), (p, q, v) => {
        const h = 1e-5;
        const at = (moved: number) => plainKl(p.with(v, p[v]! + moved), q);
        expect(reverseKl(p, q).slopes[v]).toBeCloseTo((at(h) - at(-h)) / (2 * h), 5);
      }),
    );
  });

  it("gives a token that the student cannot draw no part, and is infinite where the teacher cannot", () => {
    expect(reverseKl([0, Number.NEGATIVE_INFINITY], [0, 0]).kl).toBeCloseTo(Math.LN2, 14);
    expect(reverseKl([0, 0], [0, Number.NEGATIVE_INFINITY]).kl).toBe(Number.POSITIVE_INFINITY);
  });

  it("refuses arrays of different length", () => {
    expect(() => reverseKl([1], [1, 2])).toThrow(RangeError);
  });
});

describe("reverse KL over the teacher's most probable tokens", () => {
  it("renormalises both, and gives tokens outside no slope", () => {
    fc.assert(
      fc.property(logits(7), logits(3), (student, teacher) => {
        const ids = [4, 0, 6];
        const { kl, slopes } = topReverseKl(student, ids, teacher);
        const support = ids.map((id) => student[id]!);
        expect(kl).toBeCloseTo(plainKl(support, teacher), 9);
        for (const [v, slope] of slopes.entries()) if (!ids.includes(v)) expect(slope).toBe(0);
        const h = 1e-5;
        const at = (moved: number) => plainKl(support.with(2, support[2]! + moved), teacher);
        expect(slopes[6]).toBeCloseTo((at(h) - at(-h)) / (2 * h), 5);
      }),
    );
  });

  it("over the whole vocabulary is the full one, in any order", () => {
    const [student, teacher] = [
      [0.3, -1, 2, 0.5],
      [-0.2, 0.1, 1, -3],
    ];
    const order = [2, 0, 3, 1];
    const top = topReverseKl(
      student!,
      order,
      order.map((v) => teacher![v]!),
    );
    const full = reverseKl(student!, teacher!);
    expect(top.kl).toBeCloseTo(full.kl, 14);
    top.slopes.forEach((slope, v) => {
      expect(slope).toBeCloseTo(full.slopes[v]!, 14);
    });
  });
});

describe("of a response", () => {
  it("the loss is the weighted sum, and −KL stands for the advantage", () => {
    expect(responseDivergence([0.5, 0, 2], 1 / 4)).toEqual({
      loss: 0.625,
      advantage: Float64Array.of(-0.5, 0, -2),
    });
    expect(responseDivergence([], 1)).toEqual({ loss: 0, advantage: new Float64Array(0) });
  });

  it("masked tokens add nothing to either loss", () => {
    const masked = Uint8Array.of(0, 1, 0);
    expect(responseDivergence([0.5, 7, 2], 1 / 4, masked)).toEqual({
      loss: 0.625,
      advantage: Float64Array.of(-0.5, 0, -2),
    });
    const current = [-1, -2, -3];
    const sampled = responseObjective(current, [-2, -9, -1], current, 1 / 4, 0.2, { masked });
    expect([...sampled.advantage]).toEqual([-1, 0, 2]);
    expect(sampled.coefficients[1]! === 0).toBe(true);
    expect(sampled.loss).toBe(-1 / 4);
  });
});
