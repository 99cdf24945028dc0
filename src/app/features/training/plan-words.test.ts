import { expect, it } from "vitest";
import { checkConfig } from "../../compute/runs/config-fields.ts";
import { planWords } from "./plan-words.ts";

const BASE = { library: "l.jsonl", episodes: "e.jsonl", teacher: "t", student: "s" };
const words = (change: Record<string, unknown>, units: number | null = 1): string =>
  planWords(checkConfig({ ...BASE, ...change }).config!, units);

it("counts the steps of each stage, and names no stage without one", () => {
  expect(words({})).toBe(
    "1 vanilla step, then 1 graph-conditioned, over 1 episode, off-policy after step 1; method: gc-opd",
  );
  expect(words({ epochs: [2, 0], batch_size: 2 }, 3)).toBe(
    "4 vanilla steps, over 3 episodes, off-policy after step 1; method: gc-opd",
  );
  expect(words({ epochs: [0, 2] })).toContain("2 graph-conditioned steps, over 1 episode, ");
  expect(words({ method: "self-distillation", teacher: undefined })).toContain("2 graph-conditioned steps, ");
  expect(words({}, 0)).toContain("no steps, over 0 episodes");
});

it("says nothing of what comes after the only step", () => {
  expect(words({ epochs: [1, 0] })).toBe("1 vanilla step, over 1 episode; method: gc-opd");
  const environment = { name: "alfworld", made: { count: 1, seed: 0 } };
  expect(words({ epochs: [1, 0], episodes: undefined, environment })).toBe(
    "1 vanilla step, over 1 task, on policy; method: gc-opd",
  );
});

it("leaves the steps out where they are not known", () => {
  expect(words({}, null)).toBe("off-policy after step 1; method: gc-opd");
});
