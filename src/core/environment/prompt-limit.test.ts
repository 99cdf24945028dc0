import { expect, test } from "vitest";
import { environmentRules } from "./environment.ts";
import { limitPrompt } from "./prompt-limit.ts";

const ids = (length: number): number[] => Array.from({ length }, (_, n) => n);

test.each(["scienceworld", "alfworld", "webshop", "mars"])(
  "a prompt of %s up to its limit is whole",
  (name) => {
    const whole = ids(environmentRules(name).limits.promptTokens);
    expect(limitPrompt(whole, name)).toEqual({ ids: whole, cut: 0 });
  },
);

test("ScienceWorld keeps the last tokens", () => {
  expect(limitPrompt(ids(10_243), "scienceworld")).toEqual({ ids: ids(10_243).slice(3), cut: 3 });
});

test.each([
  ["alfworld", 10_240],
  ["webshop", 63_488],
  ["mars", 10_240],
])("%s refuses one of more than %i tokens", (name, limit) => {
  expect(() => limitPrompt(ids(limit + 1), name, { file: "e.jsonl", key: "prompt" })).toThrow(
    `e.jsonl, prompt: ${limit + 1} tokens; a student prompt of ${name} has at most ${limit}, and none is cut`,
  );
});
