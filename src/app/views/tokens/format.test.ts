import { expect, it } from "vitest";
import { nats, probability, visibleToken } from "./format.ts";

it("prints probabilities with three figures", () => {
  expect([0, Math.log(0.25), Math.log(0.00004)].map(probability)).toEqual(["1.000", "0.250", "4.0e-5"]);
});
it("prints nats with a true minus sign", () => {
  expect([nats(-1.5), nats(1.5, true), nats(-0.0001, true)]).toEqual(["−1.500", "+1.500", "0.000"]);
});
it("shows white space", () => {
  expect(visibleToken(" a\n\t")).toBe("␣a↵⇥");
  expect(visibleToken("")).toBe("∅");
});
