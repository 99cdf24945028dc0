import { describe, expect, test } from "vitest";
import { parseResponse } from "./response.ts";

const MENU =
  "Ambiguous request: Please enter the number for the action you intended (or blank to cancel):\n0:\tlook";

describe("parseResponse", () => {
  test.each([
    ["<action>look around</action>", "look around", null],
    ["  <action> look around\n</action>\n", "look around", null],
    ["<thought>hm</thought>\n<action>look around</action>", "look around", "hm"],
    ["<thought></thought><action>wait</action>", "wait", ""],
    ["<thought>a < b</thought><action>wait</action>", "wait", "a < b"],
    ["<thought>Go!</thought><action>Open Drawer</action>", "open drawer", "Go!"],
  ])("well formed: %j", (response, action, thought) => {
    expect(parseResponse(response, "")).toEqual({ action, thought, problem: null });
  });

  test.each([
    ["look around", "no <action>…</action> block"],
    ["", "no <action>…</action> block"],
    ["<Action>a</Action>", "no <action>…</action> block"],
    ["<action>a</action><action>b</action>", "more than one <action>"],
    ["<action>a", "<action> is not closed exactly once"],
    ["<action>a</action></action>", "<action> is not closed exactly once"],
    ["<thought>t<action>a</action>", "<thought> and </thought> do not pair up"],
    ["</thought><action>a</action>", "<thought> and </thought> do not pair up"],
    ["<thought>t</thought><thought>u</thought><action>a</action>", "more than one <thought>"],
    ["</action>a<action>", "a block is closed before it is opened"],
    ["</thought><thought><action>a</action>", "a block is closed before it is opened"],
    ["<action>a</action> then", "text outside the blocks"],
    ["so <action>a</action>", "text outside the blocks"],
    ["so <thought>t</thought><action>a</action>", "text outside the blocks"],
    ["<thought>t</thought> so <action>a</action>", "text outside the blocks"],
    ["<action>a</action><thought>t</thought>", "text outside the blocks"],
    ["<think>t</think><action>a</action>", "text outside the blocks"],
    ["<action>a<thought>t</thought></action>", "a thought or action tag inside a block"],
    ["<thought>no <Action></thought><action>a</action>", "a thought or action tag inside a block"],
    ["<action></action>", "an empty action where no menu asks for a blank answer"],
  ])("malformed: %j", (response, problem) => {
    expect(parseResponse(response, "You are here.")).toMatchObject({ action: null, problem });
  });

  test("a blank answer is an action only where the menu asks for one", () => {
    expect(parseResponse("<action> </action>", MENU)).toEqual({ action: "", thought: null, problem: null });
    expect(parseResponse("<action></action>", "Ambiguous request: pick one").action).toBeNull();
  });
});
