import { rgb } from "d3";
import { describe, expect, it } from "vitest";
import { darkAmount, darkDelta, deltaColour, deltaLimit, themedDelta } from "./delta-colour.ts";

/** Relative luminance of WCAG 2. */
function luminance(colour: string): number {
  const { r, g, b } = rgb(colour);
  const [x, y, z] = [r, g, b].map((v) =>
    v / 255 <= 0.04045 ? v / 255 / 12.92 : ((v / 255 + 0.055) / 1.055) ** 2.4,
  );
  return 0.2126 * x! + 0.7152 * y! + 0.0722 * z!;
}
const contrast = (a: string, b: string): number => {
  const [x, y] = [luminance(a), luminance(b)];
  return (Math.max(x, y) + 0.05) / (Math.min(x, y) + 0.05);
};

describe("deltaColour", () => {
  it("keeps black text readable everywhere", () => {
    const colour = deltaColour(2);
    for (let delta = -3; delta <= 3; delta += 0.05) {
      expect(contrast(colour(delta), "#000000"), `Δ = ${delta}`).toBeGreaterThanOrEqual(4.8);
    }
  });
  it("is neutral at zero and saturates at the limit", () => {
    const colour = deltaColour(2);
    const { r, g, b } = rgb(colour(0));
    expect(Math.max(r, g, b) - Math.min(r, g, b)).toBeLessThan(16);
    expect(colour(2)).toBe(colour(50));
    expect(colour(-2)).toBe(colour(-50));
    expect(colour(-2)).not.toBe(colour(2));
  });
});

it("keeps white text readable in the dark theme, where what changed is lighter than what did not", () => {
  for (let share = 0; share <= 1; share += 0.02) {
    expect(contrast(darkDelta(share), "#ffffff"), `Δ ${share}`).toBeGreaterThanOrEqual(4.8);
    expect(contrast(darkAmount(share), "#ffffff"), `amount ${share}`).toBeGreaterThanOrEqual(4.8);
  }
  const still = luminance(darkDelta(0.5));
  for (const end of [0, 1]) expect(luminance(darkDelta(end))).toBeGreaterThan(4 * still);
});

it("has a colour for each theme", () => {
  expect(themedDelta(1)(0)).toBe("light-dark(#eff0ef, #24282f)");
});

it("takes the largest change as the limit, but never less than half a nat", () => {
  expect(deltaLimit([0.1, -0.2])).toBe(0.5);
  expect(deltaLimit(new Float32Array([1, -4]))).toBe(4);
  expect(deltaLimit([])).toBe(0.5);
});
