import { expect, it } from "vitest";
import { timeLeft } from "./playing.ts";

const MINUTE = 60_000;

it("tells no time before a whole round of episodes has ended, nor at the end", () => {
  // Eight play side by side for ten minutes: the first to end would say 150 minutes, where 10 are left.
  expect(timeLeft(10 * MINUTE, { ended: 1, left: 15, atOnce: 8 })).toBeNull();
  expect(timeLeft(10 * MINUTE, { ended: 8, left: 8, atOnce: 8 })).toBe("about 10 min");
  expect(timeLeft(10 * MINUTE, { ended: 8, left: 0, atOnce: 8 })).toBeNull();
});

it("rounds to what is known", () => {
  expect(timeLeft(MINUTE, { ended: 10, left: 3, atOnce: 1 })).toBe("less than a minute");
  expect(timeLeft(MINUTE, { ended: 1, left: 120, atOnce: 1 })).toBe("about 2.0 h");
});
