import { scaleLinear } from "d3";
import { expect, it } from "vitest";
import { tickText } from "./tick-text.ts";

const ticks = (low: number, high: number): string[] => {
  const scale = scaleLinear([low, high], [0, 100]);
  return scale.ticks(4).map(tickText(scale, 4));
};

it("writes small figures with an exponent, as exactly as they differ, and others plainly", () => {
  expect(ticks(0, 0.5)).toEqual(["0.0", "0.1", "0.2", "0.3", "0.4", "0.5"]);
  expect(ticks(6.52e-13, 9.1e-13)).toEqual(["7.0e−13", "7.5e−13", "8.0e−13", "8.5e−13", "9.0e−13"]);
  expect(ticks(7.8e-13, 8.3e-13)).toEqual(["7.8e−13", "7.9e−13", "8.0e−13", "8.1e−13", "8.2e−13", "8.3e−13"]);
  expect(ticks(-2e-7, 0)).toEqual(["−2.0e−7", "−1.5e−7", "−1.0e−7", "−5.0e−8", "0"]);
});
