import { expect, test } from "vitest";
import { TransferRate } from "./transfer-rate.ts";

test("the time left lies between the rate of all and that of the last seconds", () => {
  const rate = new TransferRate();
  expect(rate.remaining(0, 1000, 0)).toBeNull();
  expect(rate.remaining(10, 1000, 0.5)).toBeNull();
  expect(rate.remaining(100, 1000, 1)).toEqual({ low: 9, high: 9 });
  // It stands still for 19 s, then brings 100 bytes per second again.
  for (let at = 2; at <= 20; at++) rate.remaining(100, 1000, at);
  for (let at = 21; at <= 28; at++) rate.remaining(100 + 100 * (at - 20), 1000, at);
  const left = rate.remaining(950, 1000, 28.5)!;
  expect(left.low).toBeLessThan(left.high);
  expect(left.high).toBeLessThan(2);
});

test("nothing came: nothing is guessed", () => {
  const rate = new TransferRate();
  rate.remaining(500, 1000, 0);
  expect(rate.remaining(500, 1000, 5)).toBeNull();
});
