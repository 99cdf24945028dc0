import type { Side } from "../../src/app/compute/side.ts";
import type { TokenScores } from "../../src/app/compute/store.ts";
import type { EngineInfo } from "../../src/core/ports.ts";

/** A side of the response with ids 1, 2, …, as the teacher `m` scored it. */
export function scoredSide(key: string, logprobs: ArrayLike<number>, changed: Partial<Side> = {}): Side {
  return {
    key,
    label: key,
    ids: Array.from(logprobs, (_, i) => i + 1),
    logprobs,
    promptIds: [0],
    model: "teacher",
    provenance: {
      engine: { model: "m", device: "cpu", adapter: "", dtype: "f32", parameters: 1, vocabulary: 50 },
      file: null,
      tokenizer: null,
      template: null,
      seconds: 1,
    },
    distribution: null,
    ...changed,
  };
}

/** The same side, computed on something else. */
export const computedOn = (side: Side, engine: Partial<EngineInfo>): Side => ({
  ...side,
  provenance: { ...side.provenance, engine: { ...side.provenance.engine!, ...engine } },
});

/** The response that these sides are of; its tokens are "0", "1", …. */
export function tokenScores(...sides: Side[]): TokenScores {
  const ids = [...(sides[0]?.ids ?? [])];
  return { pieces: ids.map((_, i) => String(i)), ids, sides, studentProblem: null, seconds: 0, leftOut: [] };
}
