import { readFileSync } from "node:fs";
import { gunzipSync } from "node:zlib";
import { describe, expect, test } from "vitest";
import { locateCase } from "./locate-case.ts";
import { foldFocus, orderedGoalFlags, physicalHash, stateKey } from "./locator.ts";
import { foldParserState } from "./parser-mode.ts";

interface Case {
  case: string;
  object_tree: string;
  goal_progress: string;
  history: { feedback: string; stepped: boolean }[];
  expected: {
    physical_hash: string;
    focus: string | null;
    goal_flags: [string, string][];
    key: string;
    mode: string;
    options: Record<string, string>;
    state: unknown;
  };
}

const CASES: Case[] = gunzipSync(
  readFileSync(new URL("../../../../test/fixtures/scienceworld/locator-cases.jsonl.gz", import.meta.url)),
)
  .toString("utf8")
  .trimEnd()
  .split("\n")
  .map((line) => JSON.parse(line) as Case);

describe("recorded captures", () => {
  test("there are all of them", () => expect(CASES).toHaveLength(35));

  test.each(CASES.map((entry) => [entry.case, entry] as const))("%s", (_name, entry) => {
    const { expected } = entry;
    const focus = foldFocus(entry.history);
    const goalFlags = orderedGoalFlags(entry.goal_progress);
    const physical = physicalHash(entry.object_tree);
    expect(physical).toBe(expected.physical_hash);
    expect(focus).toBe(expected.focus);
    expect(goalFlags).toEqual(expected.goal_flags);
    expect(stateKey(physical, { focus, goalFlags })).toBe(expected.key);
    expect(foldParserState(entry.history)).toEqual({ mode: expected.mode, options: expected.options });
    expect(locateCase(entry)).toEqual({
      id: { key: "case", value: entry.case },
      key: expected.key,
      state: expected.state,
    });
  });
});

describe("physical hash", () => {
  const tree = (fields: string) => `{"uuid":"1","name":"x",${fields}}`;

  test("does not depend on uuids, order of contents or order of keys", () => {
    const first = `{"uuid":"1","name":"r","contents":{"a":{"uuid":"2","name":"a"},"b":{"uuid":"3","name":"b"}}}`;
    const second = `{"contents":[{"name":"b","uuid":"7"},{"uuid":"9","name":"a"}],"name":"r","uuid":5}`;
    expect(physicalHash(first)).toBe(physicalHash(second));
  });

  test("keeps how numbers were written: 1 is not 1.0, but 1.0E1 is 10.0", () => {
    expect(physicalHash(tree('"p":1'))).not.toBe(physicalHash(tree('"p":1.0')));
    expect(physicalHash(tree('"p":1.0E1'))).toBe(physicalHash(tree('"p":10.0')));
    expect(physicalHash(tree('"p":9007199254740993'))).not.toBe(physicalHash(tree('"p":9007199254740992')));
  });

  test("bins temperatures and keeps the side of each threshold", () => {
    const at = (t: string) => tree(`"propMaterial":{"temperatureC":${t},"meltingPoint":0.25}`);
    expect(physicalHash(at("0.3"))).toBe(physicalHash(at("0.4")));
    expect(physicalHash(at("0.2"))).not.toBe(physicalHash(at("0.3")));
    expect(physicalHash(at("0.5"))).not.toBe(physicalHash(at("0.4")));
    expect(physicalHash(at('"hot"'))).toBe(physicalHash(at("null")));
  });

  test("an object below itself has no root and hashes as an empty list", () => {
    const looped = `{"uuid":"1","name":"a","contents":[{"uuid":"2","name":"b","contents":[{"uuid":"1","name":"a"}]}]}`;
    expect(physicalHash(looped)).toMatch(/^[0-9a-f]{64}$/);
    expect(physicalHash(looped)).toBe(physicalHash(looped.replaceAll('"b"', '"c"')));
  });
});

describe("bad captures", () => {
  const good = {
    case: "x",
    object_tree: '{"uuid":"1"}',
    goal_progress: "",
    history: [{ feedback: "", stepped: true }],
  };
  const where = { file: "raw.jsonl", line: 4 };

  test.each([
    [
      { ...good, object_tree: '{"uuid":"1",' },
      "raw.jsonl, line 4, object_tree: not an object tree: expected a key, but the text ends",
    ],
    [
      { ...good, object_tree: '{"name":"x"}' },
      "raw.jsonl, line 4, object_tree: not an object tree: an object without a uuid",
    ],
    [
      { ...good, object_tree: "[".repeat(2000) },
      'raw.jsonl, line 4, object_tree: not an object tree: expected at most 1000 levels at character 1001, found "["',
    ],
    [
      { ...good, object_tree: '{"uuid":"1","p":1e999}' },
      "raw.jsonl, line 4, object_tree: not an object tree: a number is beyond the range of a double",
    ],
    [
      { ...good, history: [{ feedback: 3, stepped: true }] },
      "raw.jsonl, line 4, history[0].feedback: expected string, received number",
    ],
    [{ ...good, history: [] }, "raw.jsonl, line 4, history: expected at least 1 entry, received 0"],
    [{ ...good, case: undefined }, "raw.jsonl, line 4, case: missing; expected string (or an `id`)"],
  ])("%#", (raw, message) => {
    expect(() => locateCase(raw, where)).toThrow(message);
  });
});
