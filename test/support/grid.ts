/** The smallest comparison: two made games, models of the fixtures, on the CPU. */
import { modelFixture } from "./golden.ts";

export function gridConfig({ train = {}, ...more }: { train?: object; [key: string]: unknown }) {
  return {
    environment: {
      name: "alfworld",
      made: { count: 2, seed: 0, size: "small" },
      max_decisions: 2,
      max_tokens: 2,
    },
    teacher: modelFixture("tiny-b"),
    student: modelFixture("tiny-a"),
    tokenizer: modelFixture("tokenizer"),
    device: "cpu",
    collect: { repetitions: 1 },
    seeds: [1, 2],
    evaluate: { seeds: [0] },
    train: { settings: { learning_rate: 1e-3 }, ...train },
    ...more,
  };
}
