import type { Explanation } from "../core/retrieval/types.ts";

/** An explanation as files write it: names in snake_case. */
export function explanationRecord(explanation: Explanation) {
  const { anchor, failed } = explanation;
  return {
    sentence: explanation.sentence,
    locator: explanation.locator,
    matched: explanation.matched,
    student_cost: explanation.studentCost,
    student_rank: explanation.studentRank,
    tie: explanation.tie,
    anchor: anchor && { student_position: anchor.studentPosition, candidates: anchor.candidates },
    failed: failed && {
      student_position: failed.studentPosition,
      candidates: failed.candidates.map(({ source, position, distance, wholeCost, repetition }) => ({
        source,
        position,
        distance,
        whole_cost: wholeCost,
        repetition,
      })),
    },
  };
}
