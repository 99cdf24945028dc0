import { rgb } from "d3";
import { describe, expect, it } from "vitest";
import { scoredSide } from "../../../../test/support/token-scores.ts";
import type { Distribution } from "../../compute/side.ts";
import { SIGNALS } from "../../url/place.ts";
import { compareSides } from "./comparison.ts";
import { amountColour } from "./delta-colour.ts";
import { flips, tokenSignal } from "./signal.ts";

const side = (key: string, logprobs: number[], distribution: Distribution | null = null) =>
  scoredSide(key, logprobs, { ids: [5, 6], distribution });

const of = (topIds: number[], entropy: number[]): Distribution => ({
  entropy: Float32Array.from(entropy),
  top: 2,
  topIds: Uint32Array.from(topIds),
  topLogprobs: new Float32Array(4),
  texts: new Map(),
});

const known = compareSides(
  {
    ids: [5, 6],
    sides: [
      side("vanilla", [-1, -2], of([5, 9, 6, 9], [1, 2])),
      side("graph", [-2, -1], of([9, 5, 6, 9], [0.5, 0.25])),
      side("student", [-3, -3]),
    ],
  },
  null,
  null,
);
const bare = compareSides(
  { ids: [5, 6], sides: [side("vanilla", [-1, -2]), side("graph", [-2, -1])] },
  null,
  null,
);

describe("tokenSignal", () => {
  it("says each signal in words, of the compared side", () => {
    const words = (signal: (typeof SIGNALS)[number]) => tokenSignal(signal, known, 2).words;
    expect(words("delta")).toEqual(["Δ −1.000", "Δ +1.000"]);
    expect(words("p")).toEqual(["p 0.135", "p 0.368"]);
    expect(words("logp")).toEqual(["log p −2.000", "log p −1.000"]);
    expect(words("rank")).toEqual(["rank 2", "rank 1"]);
    expect(words("entropy")).toEqual(["entropy 0.500", "entropy 0.250"]);
    expect(words("gap")).toEqual(["gap −1.000", "gap −2.000"]);
    for (const signal of SIGNALS) expect(tokenSignal(signal, known, 2).missing).toBeNull();
  });
  it("says what is missing, and colours nothing then", () => {
    for (const [signal, why] of [
      ["rank", "not computed yet"],
      ["entropy", "not computed yet"],
      ["gap", "student is not scored"],
    ] as const) {
      const { missing, colours, ramp } = tokenSignal(signal, bare, 2);
      expect(missing).toContain(why);
      expect([colours, ramp]).toEqual([[null, null], null]);
    }
    const other = compareSides({ ids: [5, 6], sides: bare.sides }, null, { base: "vanilla", side: "nobody" });
    expect(tokenSignal("delta", other, 2).missing).toContain("“nobody” is not scored");
  });
  it("never guesses a rank beyond the known ones", () => {
    const far = compareSides(
      { ids: [5, 6], sides: [side("vanilla", [-1, -1]), side("graph", [-9, -9], of([1, 2, 3, 4], [1, 1]))] },
      null,
      null,
    );
    expect(tokenSignal("rank", far, 2).words[0]).toBe("rank outside the top 2");
  });
});

it("marks where the most probable token flips, where it is known", () => {
  expect(flips(known, 2)).toEqual([true, false]);
  expect(flips(bare, 2)).toBeNull();
});

it("keeps black text readable on the blue ramp too", () => {
  const linear = (v: number): number =>
    v / 255 <= 0.04045 ? v / 255 / 12.92 : ((v / 255 + 0.055) / 1.055) ** 2.4;
  const colour = amountColour(0, 1);
  for (let value = -0.5; value <= 1.5; value += 0.05) {
    const { r, g, b } = rgb(colour(value));
    const luminance = 0.2126 * linear(r) + 0.7152 * linear(g) + 0.0722 * linear(b);
    expect((luminance + 0.05) / 0.05).toBeGreaterThanOrEqual(4.8);
  }
});
