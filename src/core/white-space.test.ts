import { describe, expect, it } from "vitest";
import fc from "../../test/support/property.ts";
import { foldWhiteSpace } from "./white-space.ts";

describe("foldWhiteSpace", () => {
  it("makes runs one space and trims", () => {
    expect(foldWhiteSpace(" a\t\n b\u00a0\u2003c\u001c\u0085d \r\n")).toBe("a b c d");
    expect(foldWhiteSpace(" \n ")).toBe("");
    expect(foldWhiteSpace("")).toBe("");
    expect(foldWhiteSpace("\ufeffa\u200bb")).toBe("\ufeffa\u200bb");
  });

  it("agrees with splitting into words", () => {
    const text = fc.string({ unit: fc.constantFrom("a", "b", " ", "\t", "\n", "\r", "\u00a0", "\u3000") });
    fc.assert(
      fc.property(text, (value) => {
        const words = value.split(/\s+/).filter((word) => word !== "");
        expect(foldWhiteSpace(value)).toBe(words.join(" "));
      }),
    );
  });
});
