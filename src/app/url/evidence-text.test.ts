import { describe, expect, it } from "vitest";
import fc from "../../../test/support/property.ts";
import { uniforms } from "../../core/seeded.ts";
import { MOST_LINK_TEXT, packText, unpackText } from "./evidence-text.ts";

const halves = fc.constantFrom("a", "\ud83d", "\udc4d", "\ufdd0", "d83d");

describe("evidence in an address", () => {
  it("is read back, whatever the text", () => {
    fc.assert(
      fc.property(fc.oneof(fc.string({ unit: "grapheme" }), fc.string({ unit: halves })), (text) => {
        const packed = packText(text)!;
        expect(packed).toMatch(/^[\w-]+$/);
        expect(unpackText(packed)).toBe(text);
      }),
    );
    expect(unpackText(packText("\ufeffé\u0000\n")!)).toBe("\ufeffé\u0000\n");
  });

  it("is refused where it is not text, and left out where it is too long", () => {
    fc.assert(
      fc.property(fc.string(), (packed) => {
        // Never throws; what it reads is a text.
        expect(["string", "object"]).toContain(typeof unpackText(packed));
      }),
    );
    for (const packed of ["", "*", "!", "AAAA", packText("abc")!.slice(0, -3)]) {
      expect(unpackText(packed)).toBeNull();
    }
    const noise = Array.from({ length: 20_000 }, (_, i) =>
      String.fromCharCode(33 + ((i * i * 31 + i * 17) % 89)),
    );
    const next = uniforms(7);
    const random = Array.from({ length: 60_000 }, () => next().toString(36).slice(2)).join("");
    expect(packText(random)).toBeNull();
    expect(packText(noise.join("").repeat(3))!.length).toBeLessThan(MOST_LINK_TEXT);
    expect(unpackText("A".repeat(MOST_LINK_TEXT + 1))).toBeNull();
  });
});
