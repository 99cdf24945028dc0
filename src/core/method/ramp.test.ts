import { describe, expect, it } from "vitest";
import { METHODS } from "./methods.ts";
import { depthAt, inEnvironment, prefixAt, rampAt } from "./ramp.ts";

describe("TCOD's schedules", () => {
  const forward = METHODS["tcod-f2b"].stages[0]!.sampling;
  const backward = METHODS["tcod-b2f"].stages[0]!.sampling;

  it("F2B: k(s) = min(1 + ⌊s/η⌋, H), η = 6 in ALFWorld and ScienceWorld, 4 in WebShop", () => {
    if (forward?.kind !== "depth") throw new Error("no depth");
    const alfworld = (s: number) => depthAt(forward, "alfworld", s, 30);
    expect([0, 5, 6, 11, 12, 60].map(alfworld)).toEqual([1, 1, 2, 2, 3, 11]);
    // Full depth from update 174 of 250 (H = 30), and from update 56 of 150 in WebShop (H = 15).
    expect([173, 174, 249].map(alfworld)).toEqual([29, 30, 30]);
    expect(depthAt(forward, "scienceworld", 174, 30)).toBe(30);
    expect([55, 56].map((s) => depthAt(forward, "webshop", s, 15))).toEqual([14, 15]);
  });

  it("B2F: c(s) = max(0, M − 1 − ⌊s/η⌋), η = 5 and in WebShop 4", () => {
    if (backward?.kind !== "prefix") throw new Error("no prefix");
    expect([0, 4, 5, 9, 10, 40, 45, 100].map((s) => prefixAt(backward, "alfworld", s, 10))).toEqual([
      9, 9, 8, 8, 7, 1, 0, 0,
    ]);
    // A short reference becomes a whole rollout earlier.
    expect(prefixAt(backward, "alfworld", 5, 2)).toBe(0);
    expect([3, 4].map((s) => prefixAt(backward, "webshop", s, 6))).toEqual([5, 4]);
  });

  it("refuses an environment that the method has no number for", () => {
    expect(inEnvironment(5, "other")).toBe(5);
    expect(() => inEnvironment({ alfworld: 6 }, "other")).toThrow(
      "the method has no number for other, only for alfworld",
    );
  });
});

describe("ramps", () => {
  it("ATOD: κ falls from 1 to 0.1 and ρ rises from 1 to 2 in a line over 80 updates, and they stay there", () => {
    const { reward } = METHODS.atod.stages[0]!;
    const at = (update: number) => ({ update, updates: 150 });
    expect([0, 40, 80, 149].map((s) => rampAt(reward!.teacher, at(s)))).toEqual([1, 0.55, 0.1, 0.1]);
    expect([0, 40, 80, 149].map((s) => rampAt(reward!.factor, at(s)))).toEqual([1, 1.5, 2, 2]);
  });

  it("go over a share of the stage, and a number stays", () => {
    const ramp = { from: 0, to: 1, over: { share: 0.5 } };
    expect([0, 2, 4, 7].map((update) => rampAt(ramp, { update, updates: 8 }))).toEqual([0, 0.5, 1, 1]);
    expect(rampAt(0.3, { update: 7, updates: 8 })).toBe(0.3);
  });
});
