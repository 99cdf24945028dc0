import { expect, it } from "vitest";
import { pairText, percent, points, pointText, verdict } from "./study-words.ts";

const pair = { a: "GC-OPD", b: "Vanilla OPD", n: 2, difference: 6.25, interval: null, toldApart: false };

it("says that few trainings tell nothing apart", () => {
  expect(pairText({ ...pair, interval: [5, 7.5] })).toBe(
    "GC-OPD less Vanilla OPD: +6.3 points (95 % +5.0 to +7.5), n = 2: not told apart: fewer than 6 trainings say nothing",
  );
  expect(pairText({ ...pair, n: 8, interval: [-1, 13.5] })).toMatch(
    /n = 8: not told apart: the interval includes 0$/,
  );
  expect(pairText({ ...pair, n: 8, interval: [1, 11.5], toldApart: true })).toMatch(/n = 8: different$/);
  expect(verdict([pair, pair])).toBe("No two methods are told apart.");
  expect(verdict([pair, { ...pair, toldApart: true }])).toBe(
    "1 of 2 pairs are different, the others are not told apart.",
  );
});

it("writes shares and differences", () => {
  expect([percent(12.5), points(-3.14), points(0.01), points(2)]).toEqual(["12.5 %", "−3.1", "0.0", "+2.0"]);
  expect(pointText({ n: 1, mean: 25, interval: null })).toBe("25.0 %, n = 1");
  expect(pointText({ n: 3, mean: 25, interval: [12, 38] })).toBe("25.0 % (95 % 12.0 to 38.0), n = 3");
});
