import { describe, expect, it } from "vitest";
import { episodesRemaining, formatRange, formatSeconds, remaining } from "./eta.ts";

describe("remaining", () => {
  it("says nothing before anything is known", () => {
    expect(remaining([100, 900], 0, 5)).toBeNull();
  });
  it("lies between linear and quadratic", () => {
    expect(remaining([100, 300], 1, 2)).toEqual({ low: 6, high: 18 });
    expect(remaining([300, 100], 1, 9)).toEqual({ low: 1, high: 3 });
    expect(remaining([100, 100], 2, 9)).toEqual({ low: 0, high: 0 });
  });
});

it("rounds to what is known", () => {
  expect(formatRange({ low: 6, high: 18 })).toBe("6 s to 20 s");
  expect(formatRange({ low: 30, high: Number.POSITIVE_INFINITY })).toBe("at least 30 s");
  expect(formatRange({ low: 118, high: 122 })).toBe("about 2 min");
  expect([0.2, 14, 89, 3600, 8000].map(formatSeconds)).toEqual(["1 s", "10 s", "90 s", "60 min", "2 h"]);
});

it("tells the time of episodes by those that have ended, and with what the running ones have played", () => {
  expect(episodesRemaining(0, 3, 8, 5)).toBeNull();
  // Two in ten seconds; six are left, of which two are played already.
  expect(episodesRemaining(2, 2, 6, 10)).toEqual({ low: 10, high: 30 });
});
