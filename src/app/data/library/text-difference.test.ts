import { describe, expect, it } from "vitest";
import fc from "../../../../test/support/property.ts";
import { textDifference } from "./text-difference.ts";

const side = (pieces: { text: string; in: string }[], name: string): string =>
  pieces
    .filter((piece) => piece.in === name || piece.in === "both")
    .map(({ text }) => text)
    .join("");

describe("the difference of two texts", () => {
  it("is made of the texts, nothing left out", () => {
    const text = fc.oneof(
      fc.string({ unit: "binary" }),
      fc
        .array(fc.constantFrom("a ", "door", "\n", "\u202e", "\ud800", "  open"))
        .map((parts) => parts.join("")),
    );
    fc.assert(
      fc.property(text, text, (left, right) => {
        const { pieces } = textDifference(left, right);
        expect(side(pieces, "left")).toBe(left);
        expect(side(pieces, "right")).toBe(right);
      }),
    );
  });

  it("lines up words, and lines of long texts", () => {
    expect(textDifference("the door is open", "the door is closed")).toEqual({
      by: "words",
      pieces: [
        { text: "the door is ", in: "both" },
        { text: "open", in: "left" },
        { text: "closed", in: "right" },
      ],
    });
    const long = Array.from({ length: 5000 }, (_, i) => `line number ${i}\n`);
    const other = long.map((line, i) => (i === 7 ? "another\n" : line));
    const { by, pieces } = textDifference(long.join(""), other.join(""));
    expect(by).toBe("lines");
    expect(pieces.filter((piece) => piece.in === "right")).toEqual([{ text: "another\n", in: "right" }]);
  });

  it("gives up on texts that have nothing in common, and says so", () => {
    const noise = (seed: number) =>
      Array.from({ length: 60_000 }, (_, i) => `${(i * seed) % 99_991}\n`).join("");
    const [left, right] = [noise(7), noise(13)];
    // Lined up to the end, they would take longer than a test may.
    const { by, pieces } = textDifference(left, right);
    expect(by).toBe("nothing");
    expect(pieces).toEqual([
      { text: left, in: "left" },
      { text: right, in: "right" },
    ]);
  });
});
