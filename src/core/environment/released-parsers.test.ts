import { readFileSync } from "node:fs";
import { resolve } from "node:path";
import { gunzipSync } from "node:zlib";
import { expect, test } from "vitest";
import { environmentRules } from "./environment.ts";

const FILE = resolve(import.meta.dirname, "../../../test/fixtures/parsers/released-verdicts.jsonl.gz");
const MENU =
  "Ambiguous request: Please enter the number for the action you intended (or blank to cancel):\n0:\tlook";

/** [response, the action that the released parsers take from it, the letters of those that accept it]. */
type Verdict = [response: string, action: string | null, accepting: string];

/** Recorded from the released Python by test/conformance/released_parsers.py. */
const verdicts: Verdict[] = gunzipSync(readFileSync(FILE))
  .toString("utf8")
  .trimEnd()
  .split("\n")
  .map((line) => JSON.parse(line) as Verdict);

test("the recording holds 60,000 different strings, and every parser accepts and refuses thousands", () => {
  expect(new Set(verdicts.map(([response]) => response)).size).toBe(60_000);
  for (const letter of "awsm") {
    const accepted = verdicts.filter(([, , accepting]) => accepting.includes(letter)).length;
    expect(accepted).toBeGreaterThan(12_000);
    expect(accepted).toBeLessThan(22_000);
  }
});

test.each([
  ["alfworld", "You are in the middle of a room.", "a"],
  ["alfworld", MENU, "a"],
  ["webshop", "WebShop [SEP] Search", "w"],
  ["webshop", MENU, "w"],
  ["scienceworld", "You are in the kitchen.", "s"],
  ["scienceworld", MENU, "m"],
])(
  "%s, answering %j: accepts what the released parser accepts, with the same action",
  (name, observation, letter) => {
    const { parseResponse } = environmentRules(name);
    const different = verdicts.filter(([response, action, accepting]) => {
      const parsed = parseResponse(response, observation);
      return (
        parsed.action !== (accepting.includes(letter) ? action : null) ||
        (parsed.problem === null) !== accepting.includes(letter)
      );
    });
    expect(different).toEqual([]);
  },
);

test("a custom environment refuses what every released rule refuses, and keeps the case of an action", () => {
  const { parseResponse } = environmentRules("mars");
  for (const [response, action, accepting] of verdicts) {
    const parsed = parseResponse(response, MENU);
    expect(parsed.action?.toLowerCase() ?? null).toBe(accepting.includes("s") ? action : null);
  }
  expect(parseResponse("<action>Open Door</action>", "").action).toBe("Open Door");
});
