import { describe, expect, it } from "vitest";
import { scoredSide as side } from "../../../../test/support/token-scores.ts";
import { compareSides } from "./comparison.ts";
import { inUnits, mostMoved, tokenRanges, unitOf } from "./units.ts";

const PIECES = ["<", "action", ">", "go", " to", " kit", "chen", "</", "action", ">", "<|im_end|>"];

const texts = (unit: "words" | "actions", pieces = PIECES): string[] =>
  tokenRanges(pieces, unit).map(({ from, to }) => pieces.slice(from, to).join(""));

describe("tokenRanges", () => {
  it("makes whole words of pieces, and keeps tags by themselves", () => {
    expect(texts("words")).toEqual(["<action>", "go", " to", " kitchen", "</action>", "<|im_end|>"]);
  });
  it("makes one unit of an action", () => {
    expect(texts("actions")).toEqual(["<action>", "go to kitchen", "</action>", "<|im_end|>"]);
  });
  it("puts a token that reaches across a border into the text rather than the tag", () => {
    const pieces = ["<", "action", ">look", " around", ".</", "action", "><", "b", ">"];
    expect(texts("actions", pieces)).toEqual(["<action", ">look around.</", "action><", "b>"]);
    expect(texts("words", pieces)).toEqual(["<action", ">look", " around.</", "action><", "b>"]);
  });
  it("covers every token once, whatever the response", () => {
    for (const pieces of [[], ["", ""], [" ", "\n", "a"], ["<", "<", "|"], ["a\n\nb", " c"]])
      for (const unit of ["pieces", "words", "actions"] as const) {
        const ranges = tokenRanges(pieces, unit);
        expect(
          ranges.flatMap(({ from, to }) => Array.from({ length: to - from }, (_, i) => from + i)),
        ).toEqual(pieces.map((_, i) => i));
      }
  });
});

describe("inUnits", () => {
  const compared = compareSides(
    { ids: [1, 2, 3], sides: [side("vanilla", [-1, -2, -1]), side("graph", [-2, -0.5, -2.5])] },
    null,
    null,
  );
  it("adds log-probabilities up, and selects the unit that moved most", () => {
    const words = inUnits(["a", " b", "c"], compared, "words");
    expect(words.texts).toEqual(["a", " bc"]);
    expect(Array.from(words.compared.base.logprobs)).toEqual([-1, -3]);
    expect([...words.compared.deltas!]).toEqual([-1, 0]);
    expect(mostMoved(words)).toBe(0);
    expect(mostMoved(inUnits(["a", " b", "c"], compared, "pieces"))).toBe(1);
    expect(words.leads).toEqual([0, 1]);
    expect([0, 1, 2].map((token) => unitOf(words, token))).toEqual([0, 1, 1]);
  });
});
