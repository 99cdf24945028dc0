/** Two evidences line by line, and word by word within the lines that changed. */
import { diffLines, diffWordsWithSpace } from "diff";

/** A piece of a line; marked where its words are not on the other side. */
export interface DiffPiece {
  text: string;
  marked: boolean;
}

/** Lines of both sides are one; lines that are on one side only hold their pieces. */
export type DiffLine =
  | { kind: "same"; text: string }
  | { kind: "removed" | "added"; pieces: readonly DiffPiece[] };

export interface EvidenceDiff {
  lines: readonly DiffLine[];
  removed: number;
  added: number;
  /** True where more than `LINES_EDITS` lines differ: all of one, then all of the other. */
  whole: boolean;
}

/**
 * Insertions and deletions up to which lines, and the words of one change, are matched. The work grows with the square:
 * some tenths of a second at most. A limit of time would show other differences on a slower machine.
 */
const LINES_EDITS = 1_500;
const WORDS_EDITS = 500;

/** Share of the characters that both sides must have for words to be marked; below it, the lines are simply different. */
const LEAST_COMMON = 0.3;

const NOTHING = { lines: [], removed: 0, added: 0, whole: false } as const;

/** The lines of a text; the last one need not end with a line feed. */
function linesOf(text: string): string[] {
  const lines = text.split("\n");
  if (lines.at(-1) === "") lines.pop();
  return lines;
}

/** Pieces cut at the ends of lines. */
function cutLines(pieces: readonly DiffPiece[]): DiffPiece[][] {
  const lines: DiffPiece[][] = [[]];
  for (const { text, marked } of pieces) {
    text.split("\n").forEach((part, i) => {
      if (i > 0) lines.push([]);
      if (part !== "") lines.at(-1)!.push({ text: part, marked });
    });
  }
  // A last line feed ends a line and begins none.
  if (lines.length > 1 && lines.at(-1)!.length === 0) lines.pop();
  return lines;
}

/** One change: lines that are gone, then lines that took their place, with the words that differ where that tells. */
function changedLines(before: string, after: string): DiffLine[] {
  const whole = (text: string): DiffPiece[] => (text === "" ? [] : [{ text, marked: false }]);
  let [old, now] = [whole(before), whole(after)];
  const words =
    before === "" || after === ""
      ? undefined
      : diffWordsWithSpace(before, after, { maxEditLength: WORDS_EDITS });
  if (words !== undefined) {
    const common = words.reduce(
      (sum, { added, removed, value }) => sum + (added || removed ? 0 : value.length),
      0,
    );
    if (common >= LEAST_COMMON * Math.min(before.length, after.length)) {
      const side = (other: "added" | "removed"): DiffPiece[] =>
        words
          .filter((word) => !word[other])
          .map(({ value, added, removed }) => ({ text: value, marked: added || removed }));
      [old, now] = [side("added"), side("removed")];
    }
  }
  const kind = (name: "removed" | "added", pieces: DiffPiece[]): DiffLine[] =>
    pieces.length === 0 ? [] : cutLines(pieces).map((line) => ({ kind: name, pieces: line }));
  return [...kind("removed", old), ...kind("added", now)];
}

/** What is to be done to `before` to have `after`. Joined again, either side is its text, but for a last line feed. */
export function evidenceDiff(before: string, after: string): EvidenceDiff {
  if (before === "" && after === "") return NOTHING;
  // Every line ends alike, so that a last one that goes on in the other text is still the same line.
  const [old, now] = [before, after].map((text) => (text === "" || text.endsWith("\n") ? text : `${text}\n`));
  const changes = diffLines(old!, now!, { maxEditLength: LINES_EDITS });
  const lines: DiffLine[] = [];
  // One by one: a text may have more lines than a call takes arguments.
  const add = (more: readonly DiffLine[]): void => more.forEach((line) => void lines.push(line));
  if (changes === undefined) {
    add(changedLines(old!, ""));
    add(changedLines("", now!));
  } else {
    for (let i = 0; i < changes.length; i++) {
      const { value, added, removed } = changes[i]!;
      if (!added && !removed) {
        add(linesOf(value).map((text): DiffLine => ({ kind: "same", text })));
        continue;
      }
      const next = changes[i + 1];
      const paired = removed && next?.added === true;
      add(changedLines(removed ? value : "", paired ? next.value : added ? value : ""));
      if (paired) i++;
    }
  }
  const count = (kind: DiffLine["kind"]): number => lines.filter((line) => line.kind === kind).length;
  return { lines, removed: count("removed"), added: count("added"), whole: changes === undefined };
}

/** A run of lines that are the same on both sides, or lines that changed with a few around them. */
export type DiffBlock = { kind: "lines" | "folded"; lines: readonly DiffLine[]; start: number };

/** Lines around a change that are shown with it; runs that are hardly longer are not folded. */
const AROUND = 2;
const LEAST_FOLDED = 4;

/** The lines in blocks: what is far from any change can be folded away. */
export function diffBlocks(lines: readonly DiffLine[]): DiffBlock[] {
  const near = lines.map(() => false);
  lines.forEach(({ kind }, i) => {
    if (kind === "same") return;
    near.fill(true, Math.max(0, i - AROUND), Math.min(lines.length, i + AROUND + 1));
  });
  const blocks: { kind: "lines" | "folded"; lines: DiffLine[]; start: number }[] = [];
  for (let i = 0; i < lines.length; ) {
    let end = i;
    while (end < lines.length && near[end] === near[i]) end++;
    const kind = near[i] || end - i < LEAST_FOLDED ? "lines" : "folded";
    const before = blocks.at(-1);
    if (before?.kind === "lines" && kind === "lines")
      for (const line of lines.slice(i, end)) before.lines.push(line);
    else blocks.push({ kind, lines: lines.slice(i, end), start: i });
    i = end;
  }
  return blocks;
}
