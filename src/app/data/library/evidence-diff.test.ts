import { describe, expect, it } from "vitest";
import fc from "../../../../test/support/property.ts";
import { type DiffLine, diffBlocks, evidenceDiff } from "./evidence-diff.ts";

const textOf = (line: DiffLine): string =>
  line.kind === "same" ? line.text : line.pieces.map(({ text }) => text).join("");

const side = (lines: readonly DiffLine[], gone: "removed" | "added"): string[] =>
  lines.filter(({ kind }) => kind !== gone).map(textOf);

const linesOf = (text: string): string[] =>
  text === "" ? [] : (text.endsWith("\n") ? text.slice(0, -1) : text).split("\n");

const word = fc.constantFrom(
  "go",
  "to",
  "kitchen",
  "stove",
  " ",
  "  ",
  "\n",
  "\n\n",
  "é",
  "👩‍👩‍👧",
  "\r",
  "\u202e",
  "<b>",
);
const text = fc.array(word, { maxLength: 30 }).map((words) => words.join(""));

describe("evidenceDiff", () => {
  it("holds both texts, line by line", () => {
    fc.assert(
      fc.property(text, text, (before, after) => {
        const { lines, removed, added, whole } = evidenceDiff(before, after);
        expect(side(lines, "added")).toEqual(linesOf(before));
        expect(side(lines, "removed")).toEqual(linesOf(after));
        expect(removed).toBe(lines.filter(({ kind }) => kind === "removed").length);
        expect(added).toBe(lines.filter(({ kind }) => kind === "added").length);
        expect(whole).toBe(false);
        if (before === after) expect(removed + added).toBe(0);
      }),
      { numRuns: 500 },
    );
  });

  it("marks the words that differ, and none where the lines are others altogether", () => {
    const { lines } = evidenceDiff(
      "a\nRecorded action: open door to kitchen\nb",
      "a\nRecorded action: open door to hall\nb",
    );
    expect(lines).toEqual([
      { kind: "same", text: "a" },
      {
        kind: "removed",
        pieces: [
          { text: "Recorded action: open door to ", marked: false },
          { text: "kitchen", marked: true },
        ],
      },
      {
        kind: "added",
        pieces: [
          { text: "Recorded action: open door to ", marked: false },
          { text: "hall", marked: true },
        ],
      },
      { kind: "same", text: "b" },
    ]);
    const other = evidenceDiff("You look around.", "Nothing happened at all");
    expect(other.lines.flatMap((line) => (line.kind === "same" ? [] : line.pieces))).toEqual([
      { text: "You look around.", marked: false },
      { text: "Nothing happened at all", marked: false },
    ]);
  });

  it("matches the lines of texts up to a number of edits, and takes others whole", () => {
    const long = (seed: number) =>
      Array.from({ length: 40_000 }, (_, i) => `${(i * 7919 + seed) % 99991} of ${seed}`).join("\n");
    // Matched to the end, they would take longer than a test may.
    const { lines, removed, added, whole } = evidenceDiff(long(1), long(2));
    expect([removed, added, whole]).toEqual([40_000, 40_000, true]);
    expect(side(lines, "added").join("\n")).toBe(long(1));

    // 750 lines replaced are 1,500 edits.
    const changed = (count: number) =>
      Array.from({ length: 5_000 }, (_, i) => (i % 5 === 0 && i < 5 * count ? `other ${i}` : `line ${i}`));
    const text = changed(0).join("\n");
    expect(evidenceDiff(text, changed(750).join("\n"))).toMatchObject({
      whole: false,
      removed: 750,
      added: 750,
    });
    expect(evidenceDiff(text, changed(751).join("\n")).whole).toBe(true);
  });
});

describe("diffBlocks", () => {
  it("folds what is far from any change, and keeps every line", () => {
    const before = Array.from({ length: 30 }, (_, i) => `line ${i}`);
    const after = before.with(10, "another line").join("\n");
    const { lines } = evidenceDiff(before.join("\n"), after);
    const blocks = diffBlocks(lines);
    expect(blocks.map(({ kind, lines: of, start }) => [kind, start, of.length])).toEqual([
      ["folded", 0, 8],
      ["lines", 8, 6],
      ["folded", 14, 17],
    ]);
    fc.assert(
      fc.property(text, text, (a, b) => {
        const all = evidenceDiff(a, b).lines;
        expect(diffBlocks(all).flatMap((block) => block.lines)).toEqual(all);
      }),
    );
  });
});
