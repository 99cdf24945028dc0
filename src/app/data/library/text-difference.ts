/** Two texts cut into what they share and what only one of them has. */
import { diffLines, diffWordsWithSpace } from "diff";

export interface TextPiece {
  text: string;
  /** Where it is. */
  in: "both" | "left" | "right";
}

export interface TextDifference {
  /** In order: the pieces of `both` and `left` joined are the left text, those of `both` and `right` the right one. */
  pieces: TextPiece[];
  /** What was lined up; `nothing` where more than `MOST_EDITS` words or lines differ. */
  by: "words" | "lines" | "nothing";
}

/** Texts longer than this together are compared line by line, in UTF-16 units. */
const MOST_BY_WORDS = 40_000;
/**
 * Insertions and deletions up to which something is lined up. The work grows with the square: some tenths of a second at
 * most. A limit of time would show other differences on a slower machine.
 */
const MOST_EDITS = 1_500;

/** Every character of both texts is in a piece, whatever was lined up. */
export function textDifference(left: string, right: string): TextDifference {
  if (left === right) return { pieces: left === "" ? [] : [{ text: left, in: "both" }], by: "words" };
  const byWords = left.length + right.length <= MOST_BY_WORDS;
  const options = { maxEditLength: MOST_EDITS };
  const changes = byWords ? diffWordsWithSpace(left, right, options) : diffLines(left, right, options);
  if (changes === undefined) {
    const pieces: TextPiece[] = [
      { text: left, in: "left" },
      { text: right, in: "right" },
    ];
    return { pieces: pieces.filter(({ text }) => text !== ""), by: "nothing" };
  }
  return {
    pieces: changes.map(({ value, added, removed }) => ({
      text: value,
      in: added ? "right" : removed ? "left" : "both",
    })),
    by: byWords ? "words" : "lines",
  };
}
