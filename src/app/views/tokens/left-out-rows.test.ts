import { describe, expect, it } from "vitest";
import type { EvidencePart } from "../../../core/evidence/index.ts";
import type { LeftOutScores } from "../../state/store.ts";
import { byChange, leftOutRows, passesOf } from "./left-out-rows.ts";

const graph = Float32Array.of(-1, -2, -3);

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

describe("leftOutRows", () => {
  const named = (rows: ReturnType<typeof leftOutRows>) =>
    rows.map(({ result: { part } }) => `${part.record}${part.event ?? ""}`);

  it("has the record that moves the token most first, or the whole response where no token is picked", () => {
    expect(named(leftOutRows({ graph, leftOut }, null, 0))).toEqual(["success", "student"]);
    // Opposite changes of single tokens cancel in the sum.
    expect(named(leftOutRows({ graph, leftOut }, null, null))).toEqual(["student", "success"]);
    expect(leftOutRows({ graph, leftOut }, null, 0)[0]).toMatchObject({ sum: 0 });
  });
  it("keeps the evidence's order among equals, and the events of other records away", () => {
    expect(named(leftOutRows({ graph, leftOut }, "success", 0))).toEqual(["success0", "success1"]);
    expect(named(leftOutRows({ graph, leftOut }, "success", 1))).toEqual(["success0", "success1"]);
    expect(named(leftOutRows({ graph, leftOut }, "failure", 1))).toEqual(["failure1"]);
  });
  it("is the log-probability without the part minus the one with all of it", () => {
    expect([...leftOutRows({ graph, leftOut }, null, 0)[0]!.changes]).toEqual([-4, 0, 4]);
  });
});

it("orders tokens by change, the earlier first among equals", () => {
  expect(byChange(Float32Array.of(0.5, -4, 4, 0))).toEqual([1, 2, 0, 3]);
});

it("counts the passes that were made, and not the one that was there already", () => {
  expect(passesOf({ ids: [1, 2, 3], leftOut })).toEqual({ passes: 4, tokens: 4 * 103, seconds: 6 });
});
