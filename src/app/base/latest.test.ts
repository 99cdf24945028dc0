import { expect, it } from "vitest";
import { Latest } from "./latest.ts";

it("only the last turn counts, until it is given up", () => {
  const latest = new Latest();
  const first = latest.begin();
  expect(first()).toBe(true);
  const second = latest.begin();
  expect([first(), second()]).toEqual([false, true]);
  const present = latest.present();
  expect(present()).toBe(true);
  latest.end();
  expect([second(), present()]).toEqual([false, false]);
});
