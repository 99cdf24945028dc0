import { expect, it } from "vitest";
import type { MatchedVisit } from "../../../../core/retrieval/types.ts";
import type { DecisionModel } from "../../../data/model.ts";
import { bestReferences } from "./other-references.ts";

const visit = (source: string, position: number, rank: number | null): MatchedVisit => ({
  source,
  repetition: 0,
  position,
  cost: 10 - position,
  terminal: false,
  eligible: rank !== null,
  reasons: [],
  rank,
});

const of = (matched: MatchedVisit[], selection: DecisionModel["selection"] = {}) =>
  bestReferences({ retrieval: { explanation: { matched } } as DecisionModel["retrieval"], selection });

it("takes the best eligible visit of each execution, by rank", () => {
  const matched = [visit("b", 2, 3), visit("a", 4, 1), visit("a", 1, 2), visit("c", 0, null)];
  expect(of(matched)).toEqual([
    { source: "a", position: 4, rank: 1 },
    { source: "b", position: 2, rank: 3 },
  ]);
});

it("takes no more than five, and none where the evidence shows no reference", () => {
  const many = Array.from({ length: 9 }, (_, i) => visit(`s${i}`, 0, i + 1));
  expect(of(many)).toHaveLength(5);
  expect(of(many, { control: "hindsight-only" })).toEqual([]);
});
