import { describe, expect, it } from "vitest";
import { commandFor, KEYS } from "./keys.ts";

const press = (key: string, more: Partial<Parameters<typeof commandFor>[0]> = {}) =>
  commandFor({ key, ctrlKey: false, metaKey: false, altKey: false, typing: false, ...more });

describe("commandFor", () => {
  it("knows each key of the help sheet, but for the arrows, which belong to the focused grid", () => {
    for (const { keys } of KEYS) {
      for (const key of keys) {
        if (key === "←" || key === "→") continue;
        expect(press(key === "Esc" ? "Escape" : key), key).not.toBeNull();
      }
    }
  });
  it("leaves the browser's shortcuts alone", () => {
    expect(press("s", { ctrlKey: true })).toBeNull();
    expect(press("t", { metaKey: true })).toBeNull();
    expect(press("1", { altKey: true })).toBeNull();
  });
  it("lets the user type, and leave with Escape", () => {
    expect(press("j", { typing: true })).toBeNull();
    expect(press("Escape", { typing: true })).toBe("escape");
  });
  it("ignores other keys and names of object members", () => {
    expect(press("x")).toBeNull();
    expect(press("toString")).toBeNull();
  });
});
