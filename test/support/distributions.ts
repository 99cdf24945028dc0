import type { Distribution } from "../../src/app/compute/side.ts";

/** Two places, with two most probable tokens each. */
export const distributionOf = (topIds: readonly number[]): Distribution => ({
  entropy: new Float32Array(2),
  top: 2,
  topIds: Uint32Array.from(topIds),
  topLogprobs: new Float32Array(4),
  texts: new Map(),
});
