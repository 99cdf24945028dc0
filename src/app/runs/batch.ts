/** The tokens of a run's latest step, from the page's own worker or from `batch.jsonl` of a run on the worker. */
import { InputError } from "../../core/errors.ts";
import type { DecisionTokens } from "../../core/loop/index.ts";

export interface BatchDecision
  extends Omit<DecisionTokens, "logprobs" | "teacherLogprobs" | "ratio" | "advantage" | "clipped"> {
  /** Text of each token. */
  pieces: string[];
  logprobs: ArrayLike<number>;
  teacherLogprobs: ArrayLike<number>;
  ratio: ArrayLike<number>;
  advantage: ArrayLike<number>;
  clipped: ArrayLike<number>;
}

export interface BatchView {
  step: number;
  decisions: BatchDecision[];
}

/**
 * Reads `batch.jsonl`.
 *
 * @throws InputError for another kind of file
 */
export function parseBatch(text: string): BatchView {
  const [head, ...lines] = text
    .trimEnd()
    .split("\n")
    .map((line) => JSON.parse(line) as Record<string, never>);
  if (typeof head?.step !== "number")
    throw new InputError("no step in its first line", { file: "batch.jsonl" });
  return {
    step: head.step,
    decisions: lines.map((line) => ({
      episode: line.episode!,
      decision: line.decision!,
      weight: line.weight!,
      ids: line.ids!,
      pieces: line.tokens!,
      logprobs: line.logprobs!,
      teacherLogprobs: line.teacher_logprobs!,
      ratio: line.ratio!,
      advantage: line.advantage!,
      clipped: line.clipped!,
    })),
  };
}
