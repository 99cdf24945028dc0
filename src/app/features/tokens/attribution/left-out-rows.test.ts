import { describe, expect, it } from "vitest";
import { scoredSide } from "../../../../../test/support/token-scores.ts";
import type { EvidencePart } from "../../../../core/evidence/index.ts";
import type { LeftOutScores } from "../../../compute/store.ts";
import { byEffect, explains, leftOutRows, passesOf } from "./left-out-rows.ts";

const sides = [scoredSide("graph", [-1, -2, -3])];

function result(part: EvidencePart, logprobs: number[], seconds: number | null = 1): LeftOutScores {
  return {
    part,
    logprobs: Float32Array.from(logprobs),
    context: 100,
    evidenceTokens: 40,
    backReferences: false,
    seconds,
  };
}

const leftOut = [
  result({ record: "student", event: null }, [-1, -2, -3.5], null),
  result({ record: "success", event: null }, [-5, -2, 1]),
  result({ record: "success", event: 0 }, [-1, -2.5, -3]),
  result({ record: "success", event: 1 }, [-1, -2, -3], 3),
  result({ record: "failure", event: 1 }, [-9, -9, -9]),
];

const token = (at: number) => ({ from: at, to: at + 1 });

describe("leftOutRows", () => {
  const named = (rows: ReturnType<typeof leftOutRows>) =>
    rows.map(({ result: { part } }) => `${part.record}${part.event ?? ""}`);

  it("has the record that moves the token most first, or the whole response where no token is picked", () => {
    expect(named(leftOutRows({ sides, leftOut }, null, token(0)))).toEqual(["success", "student"]);
    // Opposite changes of single tokens cancel in the sum.
    expect(named(leftOutRows({ sides, leftOut }, null, null))).toEqual(["student", "success"]);
    expect(leftOutRows({ sides, leftOut }, null, token(0))[0]).toMatchObject({ sum: 0 });
  });
  it("keeps the evidence's order among equals, and the events of other records away", () => {
    expect(named(leftOutRows({ sides, leftOut }, "success", token(0)))).toEqual(["success0", "success1"]);
    expect(named(leftOutRows({ sides, leftOut }, "success", token(1)))).toEqual(["success0", "success1"]);
    expect(named(leftOutRows({ sides, leftOut }, "failure", token(1)))).toEqual(["failure1"]);
  });
  it("is the log-probability with all of the evidence minus the one without the part", () => {
    expect([...leftOutRows({ sides, leftOut }, null, token(0))[0]!.effects]).toEqual([4, 0, -4]);
  });
  it("adds up the tokens of a word, and knows the events of all records", () => {
    expect(named(leftOutRows({ sides, leftOut }, "all", { from: 0, to: 2 }))).toEqual([
      "failure1",
      "success0",
      "success1",
    ]);
  });
});

it("orders tokens by effect, the earlier first among equals", () => {
  expect(byEffect(Float32Array.of(0.5, -4, 4, 0))).toEqual([1, 2, 0, 3]);
});

it("counts the passes that were made, and not the one that was there already", () => {
  expect(passesOf({ ids: [1, 2, 3], leftOut })).toEqual({ passes: 4, tokens: 4 * 103, seconds: 6 });
});

describe("explains", () => {
  const events = leftOutRows({ sides, leftOut }, "all", token(0));
  it("names the part that did most in the direction of the change, and its share of it", () => {
    expect(explains(events, token(0), 4)).toEqual({
      part: { record: "failure", event: 1 },
      effect: 8,
      share: 2,
    });
    expect(explains(events, token(1), 1)).toMatchObject({ part: { record: "failure" }, share: 7 });
  });
  it("names none where nothing changed, or nothing works in that direction", () => {
    expect(explains(events, token(0), 0.01)).toBeNull();
    expect(explains(events, token(0), -4)).toBeNull();
    expect(explains([], token(0), 4)).toBeNull();
  });
  it("names none whose share is next to nothing", () => {
    expect(explains(events, token(0), 8 / 0.06)).toMatchObject({ effect: 8 });
    expect(explains(events, token(0), 8 / 0.04)).toBeNull();
  });
});
