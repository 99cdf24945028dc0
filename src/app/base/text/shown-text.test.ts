import { describe, expect, it } from "vitest";
import fc from "../../../../test/support/property.ts";
import { beginning, shortened, shownName, shownText } from "./shown-text.ts";

it("says with … that a text goes on", () => {
  expect(shortened("In inventory", 12)).toBe("In inventory");
  expect(shortened("In inventory", 5)).toBe("In i…");
  expect(shortened("In 👍🏽", 5)).toBe("In …");
});

describe("shown text", () => {
  it("gives controls, bidi controls and halves of pairs a shape", () => {
    expect(shownText("a\0b\x1b[31m\x7f\x85")).toBe("a␀b␛[31m␡⟦U+0085⟧");
    expect(shownText("safe\u202etxt.exe\u2066x")).toBe("safe⟦RLO⟧txt.exe⟦LRI⟧x");
    expect(shownText("\ud83d and \udc4d")).toBe("⟦U+D83D⟧ and ⟦U+DC4D⟧");
    expect(shownText("\ufeffx\u2028y")).toBe("⟦BOM⟧x⟦LS⟧y");
    expect(shownText("pass\u200bword\u00ad\u2060\u2063")).toBe("pass⟦ZWSP⟧word⟦SHY⟧⟦WJ⟧⟦U+2063⟧");
    // Tags spell flags after a black flag; elsewhere they hide text.
    expect(shownText("a\u{e0068}\u{e0069}")).toBe("a⟦U+E0068⟧⟦U+E0069⟧");
  });

  it("leaves what has a shape as it is: markup, emoji sequences, right-to-left letters, tabs and lines", () => {
    for (const text of [
      "<script>alert(1)</script>&amp;",
      "👩‍👩‍👧‍👦 👍🏽 🏳️‍🌈",
      "שלום مرحبا",
      "a\tb\nc",
      "é\u0301\u0301",
      "می\u200cخواهم",
      "🏴\u{e0067}\u{e0062}\u{e0065}\u{e006e}\u{e0067}\u{e007f}",
    ]) {
      expect(shownText(text)).toBe(text);
    }
    expect(shownText("one\r\ntwo\rthree")).toBe("one\ntwo␍three");
  });

  it("never leaves a shapeless character, whatever the text", () => {
    fc.assert(
      fc.property(fc.string({ unit: "binary" }), (text) => {
        const shown = shownText(text);
        expect(shown).not.toMatch(/[\u202a-\u202e\u2066-\u2069\0]|\p{Surrogate}/u);
        expect(shownText(shown)).toBe(shown);
      }),
    );
  });

  it("begins a long text without cutting a pair", () => {
    expect(beginning("abc", 3)).toBe("abc");
    expect(beginning("ab👍c", 3)).toBe("ab");
    expect(beginning("ab\r\nc", 3)).toBe("ab");
    fc.assert(
      fc.property(fc.string({ unit: "grapheme" }), fc.integer({ min: 1, max: 20 }), (text, most) => {
        const first = beginning(text, most);
        expect(text.startsWith(first)).toBe(true);
        expect(first.length).toBeLessThanOrEqual(most);
        if (!/\p{Surrogate}/u.test(text)) expect(first).not.toMatch(/\p{Surrogate}/u);
      }),
    );
  });

  it("says how long a name is that it does not show whole", () => {
    expect(shownName("melt|12")).toBe("melt|12");
    expect(shownName("a\nb\tc")).toBe("a␊b␉c");
    expect(shownName("x".repeat(100_000))).toBe(`${"x".repeat(200)}… (100,000 characters)`);
  });
});
