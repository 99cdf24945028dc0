import { expect, it } from "vitest";
import { nats, percent, probability, timesAsLikely, visibleToken } from "./format.ts";

it("prints probabilities with three figures", () => {
  expect([0, Math.log(0.25), Math.log(0.00004)].map(probability)).toEqual(["1.000", "0.250", "4.0e−5"]);
});
it("prints percent with a true minus sign in the exponent", () => {
  expect([Math.log(0.5), Math.log(0.00004)].map(percent)).toEqual(["50.00%", "4.0e−3%"]);
});
it("prints nats with a true minus sign", () => {
  expect([nats(-1.5), nats(1.5, true), nats(-0.0001, true)]).toEqual(["−1.500", "+1.500", "0.000"]);
});
it("rounds nats to the digits that are asked for: what is none has no sign", () => {
  expect([nats(0.119, true, 2), nats(-0.0096, true, 2), nats(-0.0049, true, 2)]).toEqual([
    "+0.12",
    "−0.01",
    "0.00",
  ]);
});
it("shows white space", () => {
  expect(visibleToken(" a\n\t")).toBe("␣a↵⇥");
  expect(visibleToken("")).toBe("∅");
});
it("says how much more or less likely in words, never as a factor below one", () => {
  expect([-14.457, 1.2238, 3.35, -7, 0.01, -30, 60].map(timesAsLikely)).toEqual([
    "1.9 million times less likely",
    "3.4 times more likely",
    "29 times more likely",
    "1,097 times less likely",
    "about as likely",
    "11 trillion times less likely",
    "more than 1,000 trillion times more likely",
  ]);
});
