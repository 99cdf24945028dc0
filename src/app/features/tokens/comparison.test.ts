import { describe, expect, it } from "vitest";
import { scoredSide as side } from "../../../../test/support/token-scores.ts";
import { compareSides } from "./comparison.ts";

const scores = {
  ids: [1, 2],
  sides: [
    side("vanilla", [-1, -1]),
    side("graph", [-2, -0.5]),
    side("with:success-only", [-3, -3]),
    side("model:other:graph", [-1, -1, -1], { ids: [7, 8, 9] }),
  ],
};

describe("compareSides", () => {
  it("compares the two contexts of the teacher unless other sides are chosen", () => {
    expect([...compareSides(scores, null, null).deltas!]).toEqual([-1, 0.5]);
    const chosen = compareSides(scores, null, { base: "graph", side: "with:success-only" });
    expect([...chosen.deltas!]).toEqual([-1, -2.5]);
  });
  it("has a column for what is of the shown tokens, and refuses a difference with anything else", () => {
    const { columns, sides, deltas, refused } = compareSides(scores, null, {
      base: "vanilla",
      side: "model:other:graph",
    });
    expect(columns.map(({ key }) => key)).toEqual(["vanilla", "graph", "with:success-only"]);
    expect(sides).toHaveLength(4);
    expect(deltas).toBeNull();
    expect(refused).toContain("their token ids differ");
  });
  it("says which side of an address is not there", () => {
    const { base, side: shown, deltas, refused } = compareSides(scores, null, { base: "x", side: "graph" });
    expect([base.key, shown.key, deltas]).toEqual(["vanilla", "graph", null]);
    expect(refused).toBe("“x” is not scored for this decision: add it, or choose another side");
  });
  it("takes what was recorded as sides too", () => {
    const recorded = {
      ids: [1, 2],
      pieces: ["a", "b"],
      piecesProblem: null,
      teacher: [-4, -4],
      teacherSource: "scores.jsonl",
      student: null,
      problem: null,
    };
    const { deltas } = compareSides(scores, recorded, { base: "vanilla", side: "recorded-teacher" });
    expect([...deltas!]).toEqual([-3, -3]);
    expect(
      compareSides(scores, { ...recorded, ids: null }, { base: "vanilla", side: "recorded-teacher" }).refused,
    ).toContain("no response_ids");
  });
});
