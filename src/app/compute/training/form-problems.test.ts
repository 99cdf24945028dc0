import { expect, it } from "vitest";
import { checkConfig, configOf } from "../runs/config-fields.ts";
import { firstProblem, formProblems } from "./form-problems.ts";

const BASE = { library: "l.jsonl", episodes: "e.jsonl", teacher: "t", student: "s" };
const problems = (texts: Record<string, string>, more: Record<string, unknown> = {}) =>
  formProblems(checkConfig({ ...BASE, ...configOf(texts), ...more }).problems, texts);

it("names fields by their labels, and what they take in plain words", () => {
  expect(firstProblem(problems({ "settings.learning_rate": "x" }))).toBe("Learning rate: expected a number");
  expect(firstProblem(problems({ batch_size: "x" }))).toBe("Episodes per step: expected a number");
  expect(firstProblem(problems({}, { epochs: [0, 0] }))).toBe("Passes: at least one stage needs a pass");
  expect(firstProblem(problems({}, { memory_limit_gib: -3 }))).toBe(
    "Memory limit: expected more than 0, received -3",
  );
  expect(firstProblem({ seed: "of a field", "": "of the whole" })).toBe("of the whole");
  expect(firstProblem(problems({}))).toBeUndefined();
});

it("says where JSON is not valid; valid JSON of another shape is the schema's to refuse", () => {
  expect(firstProblem(problems({ subset: '{"fraction": 0.5' }))).toMatch(
    /^Part of the library: not valid JSON: .* at position 16\b/,
  );
  expect(problems({ subset: '"half"' })).toEqual({ subset: "expected object, received string" });
  expect(problems({ cards: "two" })).toEqual({ cards: "expected a number" });
});
