import { expect, it } from "vitest";
import { letters } from "./letters.ts";

it("counts A to Z, then AA", () => {
  expect([0, 1, 25, 26, 27, 51, 52, 701, 702].map(letters)).toEqual([
    "A",
    "B",
    "Z",
    "AA",
    "AB",
    "AZ",
    "BA",
    "ZZ",
    "AAA",
  ]);
});
