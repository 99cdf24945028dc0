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
  /** What was lined up; `nothing` where the texts are too long or too different for that in the time. */
  by: "words" | "lines" | "nothing";
}

/** Texts longer than this together are compared line by line, in UTF-16 units. */
const MOST_BY_WORDS = 40_000;
/** Milliseconds after which nothing is lined up. */
const PATIENCE = 400;

/** Takes `PATIENCE` at most, whatever the texts. */
export function textDifference(left: string, right: string): TextDifference {
  if (left === right) return { pieces: left === "" ? [] : [{ text: left, in: "both" }], by: "words" };
  const byWords = left.length + right.length <= MOST_BY_WORDS;
  const options = { timeout: PATIENCE };
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
