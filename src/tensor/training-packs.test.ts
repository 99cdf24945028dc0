import { expect, it } from "vitest";
import { QWEN3_SIZES } from "../../bench/support/qwen3-sizes.ts";
import { keptTokens } from "./layer.ts";
import type { Pack, Sequence } from "./packing.ts";
import { trainingPacks } from "./training-packs.ts";

const large = { packTokens: 16_384 };
const model = QWEN3_SIZES["1.7b"]!;

/** Sequences of `context` tokens, `prefix` of them in common, and 96 of a response. */
function sequences(count: number, context: number, prefix: number): Sequence[] {
  return Array.from({ length: count }, (_, n) => ({
    promptIds: Array.from({ length: context }, (_, i) => (i < prefix ? i : 10_000 + n)),
    responseIds: Array.from({ length: 96 }, () => 1),
  }));
}

const lengths = (packs: readonly Pack[]) => packs.map(({ ids }) => ids.length);
const longest = (packs: readonly Pack[]) => Math.max(...lengths(packs));
const computed = (packs: readonly Pack[]) => lengths(packs).reduce((a, b) => a + b, 0);

it("keeps activations where longer passes share nothing more", () => {
  const packs = trainingPacks(sequences(24, 2048, 0), model, large);
  expect(longest(packs)).toBeLessThanOrEqual(keptTokens(model, large));
  expect(computed(packs)).toBe(24 * (2048 + 95));
});

it("computes activations again where longer passes share more than that costs", () => {
  // A trunk of 10,239 tokens leaves a pass of 11,983 no room for a branch of 2,143.
  const work = sequences(16, 10_144, 8096);
  expect(keptTokens(model, large)).toBe(11_983);
  const packs = trainingPacks(work, model, large);
  expect(longest(packs)).toBeGreaterThan(keptTokens(model, large));
  expect((computed(packs) * 4) / 3).toBeLessThan(16 * 10_239);
});

it("takes what is asked for", () => {
  const work = sequences(16, 10_144, 8096);
  expect(trainingPacks(work, model, large, { recompute: false, maxTokensPerPack: 8192 })).toHaveLength(16);
  expect(longest(trainingPacks(sequences(24, 2048, 0), model, large, { recompute: true }))).toBe(7 * 2143);
  expect(computed(trainingPacks(work, model, large, { shortestPrefix: Infinity }))).toBe(16 * 10_239);
});

it("does not count the rows that branches of linear layers add as nothing", () => {
  const config = QWEN3_SIZES["3.5-0.8b"]!;
  // Beginnings of 64 tokens are worth sharing here, and 63 are not.
  expect(computed(trainingPacks(sequences(2, 100, 64), config, large))).toBe(2 * 195 - 64);
  expect(computed(trainingPacks(sequences(2, 100, 63), config, large))).toBe(2 * 195);
});
