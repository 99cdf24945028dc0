import { expect, test } from "vitest";
import type { ModelConfig } from "./config.ts";
import { modelShapes } from "./tuning-shapes.ts";

const config: ModelConfig = {
  architecture: "qwen3",
  vocabularySize: 50_000,
  hiddenSize: 64,
  intermediateSize: 160,
  layers: 3,
  heads: 4,
  keyValueHeads: 2,
  headSize: 32,
  ropeTheta: 1e6,
  normEpsilon: 1e-6,
  tied: true,
  maxPositions: 8192,
};

test("every product of a model's passes, once", () => {
  const lines = (pass: "forward" | "backward") =>
    modelShapes(config, 1000, pass).products.map(({ form, m, n, k }) => `${form} ${m} ${n} ${k}`);
  expect(lines("forward").sort()).toEqual(
    [
      "nt 1000 128 64", // q
      "nt 1000 64 64", // k, v
      "nt 1000 64 128", // o
      "nt 1000 160 64", // gate, up
      "nt 1000 64 160", // down
      "nt 250 16384 64", // a block of the head
    ].sort(),
  );
  expect(lines("backward")).toHaveLength(12);
  expect(lines("backward")).toEqual(
    expect.arrayContaining(["nn 1000 160 64", "tn 64 160 1000", "tn 16384 64 250"]),
  );
  expect(modelShapes(config, 1000, "backward").attention).toEqual([
    { queries: 1000, heads: 4, groups: 2, size: 32, backward: true },
  ]);
});
