import { describe, expect, it } from "vitest";
import { matchingKey } from "./matching-key.ts";

const menu = (options: Record<string, string>, mode = "pending_menu", key = "k") =>
  matchingKey({ key, mode, options });

describe("matchingKey", () => {
  it("is null for an unreliable capture", () => {
    expect(matchingKey(null)).toBeNull();
  });

  it("does not depend on the order or the white space of options", () => {
    expect(menu({ a: "pick  up\torange ", b: "eat" })).toBe(menu({ b: "eat", " a": "pick up orange" }));
  });

  it("differs in key, mode, option names, option values and their number", () => {
    const base = menu({ "0": "x" });
    for (const other of [
      menu({ "0": "x" }, "normal"),
      menu({ "0": "x" }, "pending_menu", "K"),
      menu({ "1": "x" }),
      menu({ "0": "X" }),
      menu({ "0": "x", "1": "x" }),
      menu({}),
    ]) {
      expect(other).not.toBe(base);
    }
  });

  it("cannot be forged by text that holds separators", () => {
    expect(menu({ a: 'x"],["b","y' })).not.toBe(menu({ a: "x", b: "y" }));
    expect(matchingKey({ key: 'k","normal', mode: "normal", options: {} })).not.toBe(
      matchingKey({ key: "k", mode: 'normal","normal', options: {} }),
    );
  });
});
