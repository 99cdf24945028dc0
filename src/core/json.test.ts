import { expect, it } from "vitest";
import { MOST_VALUES, parseJsonText } from "./json.ts";

const where = { file: "a.json", line: 3 };

it("refuses more values than any file has, by their count and not by what stands in strings", () => {
  const elements = (count: number) => `[${"0,".repeat(count)}0]`;
  const refused = `a.json, line 3: holds more than ${MOST_VALUES} values`;
  expect(() => parseJsonText(elements(MOST_VALUES), where)).toThrow(refused);
  expect(() => parseJsonText(`[${"{},".repeat(MOST_VALUES)}{}]`, where)).toThrow(refused);
  expect(() => parseJsonText("[".repeat(MOST_VALUES + 1), where)).toThrow(refused);
  const text = `"${',[{\\"'.repeat(MOST_VALUES)}"`;
  expect(parseJsonText(text, where)).toHaveLength(4 * MOST_VALUES);
});

it("refuses what nests deeper than asked for", () => {
  const nested = (depth: number) => `${"[".repeat(depth)}"]["${"]".repeat(depth)}`;
  expect(parseJsonText(nested(200), where, 200)).toHaveLength(1);
  expect(() => parseJsonText(nested(201), where, 200)).toThrow("a.json, line 3: nests deeper than 200");
  expect(parseJsonText(nested(20_000), where)).toHaveLength(1);
});

it("names the place of what is no JSON", () => {
  expect(() => parseJsonText("{", where)).toThrow(/^a\.json, line 3: not JSON: /);
});
