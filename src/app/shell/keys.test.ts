import { describe, expect, it } from "vitest";
import type { Action } from "../compute/action.ts";
import { actionFor, type KeyPress, keyCaps } from "./keys.ts";

const action = (id: string, keys: string[], more: Partial<Action> = {}): Action => ({
  id,
  title: id,
  group: "Page",
  keys,
  run: () => undefined,
  ...more,
});
const TABLE = [
  action("score", ["s"]),
  action("tokens", ["3", "t"]),
  action("help", ["?"], { inDialog: "help" }),
  action("palette", ["Mod+k"], { inDialog: "palette" }),
  action("escape", ["Escape"], { whileTyping: true }),
];
const press = (key: string, more: Partial<KeyPress> = {}) =>
  actionFor(TABLE, {
    key,
    ctrlKey: false,
    metaKey: false,
    altKey: false,
    typing: false,
    dialog: null,
    ...more,
  })?.id ?? null;

describe("actionFor", () => {
  it("knows each key of an action", () => {
    expect([press("s"), press("3"), press("t")]).toEqual(["score", "tokens", "tokens"]);
  });
  it("leaves the browser's shortcuts alone", () => {
    expect(press("s", { ctrlKey: true })).toBeNull();
    expect(press("t", { metaKey: true })).toBeNull();
    expect(press("s", { altKey: true })).toBeNull();
  });
  it("takes Ctrl and ⌘ alike, whatever the shift lock says", () => {
    expect(press("k", { ctrlKey: true })).toBe("palette");
    expect(press("K", { metaKey: true })).toBe("palette");
    expect(press("k")).toBeNull();
  });
  it("lets the user type, and leave with Escape or Ctrl-K", () => {
    expect(press("s", { typing: true })).toBeNull();
    expect(press("Escape", { typing: true })).toBe("escape");
    expect(press("k", { typing: true, ctrlKey: true })).toBe("palette");
  });
  it("gives an open dialog only what closes it", () => {
    expect(press("s", { dialog: "help" })).toBeNull();
    expect(press("?", { dialog: "help" })).toBe("help");
    expect(press("?", { dialog: "" })).toBeNull();
    expect(press("Escape", { dialog: "help" })).toBeNull();
  });
  it("ignores other keys and names of object members", () => {
    expect(press("x")).toBeNull();
    expect(press("toString")).toBeNull();
  });
});

describe("keyCaps", () => {
  it("writes keys as they are printed", () => {
    expect(keyCaps("Mod+k", false)).toBe("Ctrl K");
    expect(keyCaps("Mod+k", true)).toBe("⌘ K");
    expect(keyCaps("Escape", false)).toBe("Esc");
    expect(keyCaps("Alt+ArrowLeft", false)).toBe("Alt ←");
    expect(keyCaps("+", false)).toBe("+");
    expect(keyCaps("]", true)).toBe("]");
  });
});
