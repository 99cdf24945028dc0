import { expect, test } from "vitest";
import { Meter } from "./golden-meter.ts";

test("a deviation beyond the tolerance, a NaN and a wrong length throw; the largest is remembered", () => {
  const meter = new Meter();
  meter.all("x", [1, 2.1], [1, 2], 0.2, "a");
  expect(meter.worst["x"]).toBeCloseTo(0.1, 6);
  expect(() => meter.all("x", [1, 2.3], [1, 2], 0.2, "a")).toThrow("a[1]: x is off by");
  expect(() => meter.all("x", [NaN], [1], 0.2, "a")).toThrow("a[0]");
  expect(() => meter.all("x", [1], [1, 2], 0.2, "a")).toThrow("1 values, expected 2");
  meter.gradient([1, 1000], [1, 1000.5], "g");
  expect(() => meter.gradient([1, 1002], [1, 1000], "g")).toThrow("g: gradient, relative L2");
  expect(() => meter.gradient([0, NaN], [1, 1000], "g")).toThrow("g: gradient, relative L2");
});
