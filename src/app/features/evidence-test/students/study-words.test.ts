import { describe, expect, it } from "vitest";
import {
  pairText,
  percent,
  points,
  pointText,
  registeredPair,
  registeredVerdict,
  verdict,
} from "./study-words.ts";

const pair = { a: "GC-OPD", b: "Vanilla OPD", n: 2, difference: 6.25, interval: null, toldApart: false };

it("says that few trainings tell nothing apart", () => {
  expect(pairText({ ...pair, interval: [5, 7.5] })).toBe(
    "GC-OPD minus Vanilla OPD, +6.3 points (95 % +5.0 to +7.5), n = 2; not told apart (fewer than 6 trainings)",
  );
  expect(pairText({ ...pair, n: 8, interval: [-1, 13.5] })).toMatch(
    /n = 8; not told apart \(the interval includes 0\)$/,
  );
  expect(pairText({ ...pair, n: 8, interval: [1, 11.5], toldApart: true })).toMatch(/n = 8; different$/);
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

describe("the registered experiment", () => {
  const methods = [
    {
      method: "gc-opd",
      label: "GC-OPD",
      n: 48,
      mean: 70,
      interval: [60, 80] as [number, number],
      fallen: 6,
      others: 84.4,
    },
    {
      method: "opd",
      label: "Vanilla OPD",
      n: 48,
      mean: 50,
      interval: [49, 51] as [number, number],
      fallen: 0,
      others: 50,
    },
  ];
  const pair = (mean: number, interval: [number, number], p: number) => ({
    ...{ a: "gc-opd", b: "opd", n: 48, mean, interval, p },
  });
  it("says which beats which by the registered test, and which are not told apart", () => {
    const better = pair(20, [12, 28], 0.000011);
    expect(registeredVerdict({ primary: [better], methods })).toBe("GC-OPD beats Vanilla OPD.");
    expect(registeredPair(better, methods)).toBe(
      "GC-OPD minus Vanilla OPD, +20.0 points (95 % +12.0 to +28.0), n = 48; different, p = 1e−5 after Holm",
    );
    const worse = pair(-20, [-28, -12], 0.01);
    expect(registeredVerdict({ primary: [worse], methods })).toBe("Vanilla OPD beats GC-OPD.");
    const equal = pair(-3, [-13, 7], 0.45);
    expect(registeredVerdict({ primary: [equal, better], methods })).toBe(
      "GC-OPD beats Vanilla OPD; GC-OPD and Vanilla OPD are not told apart.",
    );
    expect(registeredPair(equal, methods)).toContain(
      "not told apart (the interval includes 0), p = 0.45 after Holm",
    );
  });
});
