import { describe, expect, it } from "vitest";
import type { State } from "../record/schema.ts";
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

  it("differs for any two states, whatever their descriptors begin with", () => {
    const descriptors = ["", "k", "[", "#", "#6 normalk", '["k","normal",[]]', "6 normalk", "normalk"];
    const states = descriptors.flatMap((key) =>
      ["normal", "normalk", "pending_menu", ""].flatMap((mode): State[] => [
        { key, mode, options: {} },
        { key, mode, options: { "0": "x" } },
      ]),
    );
    expect(new Set(states.map(matchingKey)).size).toBe(states.length);
  });

  it("cannot be forged by text that holds separators", () => {
    expect(menu({ a: 'x"],["b","y' })).not.toBe(menu({ a: "x", b: "y" }));
    expect(matchingKey({ key: 'k","normal', mode: "normal", options: {} })).not.toBe(
      matchingKey({ key: "k", mode: 'normal","normal', options: {} }),
    );
  });
});
