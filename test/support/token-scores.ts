import type { Side } from "../../src/app/compute/side.ts";
import type { TokenScores } from "../../src/app/compute/store.ts";

/** Scores of an empty response, with the given sides. */
export function tokenScores(...sides: Side[]): TokenScores {
  const none = new Float32Array();
  return {
    pieces: [],
    ids: [],
    sides,
    vanilla: none,
    graph: none,
    student: null,
    vanillaContext: 0,
    graphContext: 0,
    teacher: { model: "", device: "cpu", adapter: "", dtype: "f32", parameters: 1, vocabulary: 1 },
    studentInfo: null,
    studentProblem: null,
    seconds: 0,
    leftOut: [],
  };
}
