import { readFileSync } from "node:fs";
import { describe, expect, test } from "vitest";
import { readLibrary } from "../../../formats/read-files.ts";
import { foldParserState, isRejection, menuOptions } from "./parser-mode.ts";

const MENU =
  "Ambiguous request: Please enter the number (or blank to cancel):\n0:\tpick up  tin cup\n10 :\tpick up\tred cup \n";
const OPTIONS = { "0": "pick up tin cup", "10": "pick up red cup" };
const stepped = (feedback: string) => ({ feedback, stepped: true });

test("recorded rejections are told by their feedback", async () => {
  const file = new URL("../../../../test/fixtures/scienceworld/sources.jsonl.gz", import.meta.url);
  let rejected = 0;
  for (const { sources } of (await readLibrary(readFileSync(file), { file: "sources" })).tasks) {
    for (const decision of sources.flatMap((source) => source.decisions)) {
      if (decision.status === "rejected") {
        rejected++;
        expect(isRejection(decision.feedback)).toBe(true);
      }
      for (const { reason, feedback } of decision.attempts) {
        expect(isRejection(feedback)).toBe(reason === "rejected");
      }
    }
  }
  expect(rejected).toBe(22);
});

describe("rejections", () => {
  test.each([
    " no known action matches that input.",
    "It's not clear how to flush that.",
    "The metal pot is not closeable.",
    "The door isn't open, so you can't see inside.",
    "There is only one thing (water) in the cup.",
  ])("%j is one", (feedback) => expect(isRejection(feedback)).toBe(true));

  test.each([
    "The door is now open.",
    "The \n is not open.",
    "You see: No known action matches that input.",
    "That can't be eaten.",
  ])("%j is none", (feedback) => expect(isRejection(feedback)).toBe(false));
});

describe("mode", () => {
  test.each<[string, { feedback: string; stepped: boolean }[], string, Record<string, string>]>([
    ["starts at rest", [stepped("You are here.")], "normal", {}],
    ["a menu opens", [stepped(MENU)], "pending_menu", OPTIONS],
    [
      "an unreadable reply leaves it open",
      [stepped(MENU), { feedback: "Unknown action.", stepped: false }],
      "pending_menu",
      OPTIONS,
    ],
    ["an answer closes it", [stepped(MENU), stepped("You move the cup.")], "normal", {}],
    ["a refused answer is unknown", [stepped(MENU), stepped("Unknown action. Type help.")], "unknown", {}],
    [
      "a refusal after that stays unknown",
      [stepped(MENU), stepped("Unknown action."), stepped("You must wait.")],
      "unknown",
      {},
    ],
    [
      "until it is at rest again",
      [stepped(MENU), stepped("Unknown action."), stepped("You wait.")],
      "normal",
      {},
    ],
    ["a refusal at rest changes nothing", [stepped("Unknown action.")], "normal", {}],
    ["a request without options is not a menu", [stepped("Ambiguous request: none")], "normal", {}],
  ])("%s", (_name, history, mode, options) => {
    expect(foldParserState(history)).toEqual({ mode, options });
  });

  test("numbered lines elsewhere are not a menu", () => expect(menuOptions("0:\tlook")).toEqual({}));
});
