import { describe, expect, it } from "vitest";
import { distributionOf as of } from "../../../test/support/distributions.ts";
import { scoredSide } from "../../../test/support/token-scores.ts";
import { argmaxFlips, difference, rankOf, recordedSides, type Side } from "./side.ts";

function side(key: string, ids: number[] | null, logprobs: number[], tokenizer: string | null = null): Side {
  const made = scoredSide(key, logprobs, { label: `teacher ${key}`, ids });
  return { ...made, provenance: { ...made.provenance, tokenizer } };
}

describe("difference", () => {
  it("is side − base, token by token", () => {
    const { deltas } = difference(side("a", [1, 2], [-1, -2]), side("b", [1, 2], [-3, -0.5]));
    expect([...deltas!]).toEqual([-2, 1.5]);
  });
  it("is refused where the ids differ, with both tokenizers named", () => {
    const a = side("a", [1, 2, 3], [-1, -1, -1], "0123456789abcdef");
    const b = side("b", [1, 9, 3], [-1, -1, -1], "fedcba9876543210");
    const { deltas, refused } = difference(a, b);
    expect(deltas).toBeNull();
    expect(refused).toBe(
      "their token ids differ from token 1 on (2 and 9): “teacher a” has tokenizer sha256:0123456789ab, " +
        "“teacher b” has sha256:fedcba987654",
    );
    expect(difference(a, side("b", [1, 2], [-1, -1])).refused).toContain("in number (3 and 2)");
    expect(difference(a, side("b", [1, 2], [-1, -1])).refused).toContain("of unknown hash");
  });
  it("is refused where nothing says what the ids were", () => {
    expect(difference(side("a", [1], [-1]), side("b", null, [-1])).refused).toContain("no response_ids");
  });
});

describe("recordedSides", () => {
  const recorded = {
    ids: [1, 2],
    pieces: ["a", "b"],
    piecesProblem: null,
    teacher: [-1, -2],
    teacherSource: "scores.jsonl",
    student: null,
    problem: null,
  };
  it("has what was recorded, where it is of as many tokens", () => {
    const [teacher, ...rest] = recordedSides(recorded, [1, 2]);
    expect(rest).toEqual([]);
    expect([teacher!.key, teacher!.provenance.file]).toEqual(["recorded-teacher", "scores.jsonl"]);
    expect(recordedSides(recorded, [1, 2, 3])).toEqual([]);
    expect(recordedSides(null, [1])).toEqual([]);
  });
});

describe("distributions", () => {
  it("knows the rank of a token among the most probable ones, and never guesses beyond them", () => {
    const known = of([5, 7, 9, 3]);
    expect([rankOf(known, 0, 5), rankOf(known, 0, 7), rankOf(known, 1, 3)]).toEqual([1, 2, 2]);
    expect(rankOf(known, 1, 5)).toBeNull();
  });
  it("flips where the most probable token is another one", () => {
    const [a, b] = [of([5, 7, 9, 3]), of([5, 9, 3, 9])];
    expect([argmaxFlips(a, b, 0), argmaxFlips(a, b, 1)]).toEqual([false, true]);
  });
});
