import { InputError } from "../../core/errors.ts";
import type { ScoreOptions, ScoreResult } from "../../core/ports.ts";
import { entropyOf, largestPlaces, logSumExp } from "./log-softmax.ts";

/** What to tell of each response token beside its log-probability. */
export type Wanted = Pick<ScoreOptions, "topK" | "entropy" | "distribution"> & { hidden?: boolean };

/** `hidden`: [response tokens · vocabulary] log-probabilities, from which any token may be told. */
export type OnnxScores = ScoreResult & { hidden?: Float32Array };

/** What is told of a response, from the logits before each of its tokens. */
export class ResponseRows {
  readonly scores: Omit<OnnxScores, "id">;
  /** [response tokens · vocabulary] log-probabilities. */
  #rows: Float32Array | undefined;

  constructor(
    private readonly targets: readonly number[],
    private readonly wanted: Wanted,
    /** The model, for messages. */
    private readonly file: string,
  ) {
    this.scores = { logprobs: new Float32Array(targets.length) };
    if (wanted.entropy) this.scores.entropy = new Float32Array(targets.length);
  }

  /** Takes the logits [vocabulary] before response token `index`. */
  add(index: number, logits: Float32Array): void {
    const { scores, wanted, targets } = this;
    const total = logSumExp(logits);
    const logprob = logits[targets[index]!]! - total;
    if (!Number.isFinite(logprob))
      throw new InputError(`the log-probability of response token ${index + 1} is ${logprob}`, {
        file: this.file,
      });
    scores.logprobs[index] = logprob;
    if (wanted.topK !== undefined) {
      const top = Math.min(wanted.topK, logits.length);
      scores.topIds ??= new Uint32Array(targets.length * top);
      scores.topLogprobs ??= new Float32Array(targets.length * top);
      const places = largestPlaces(logits, top);
      scores.topIds.set(places, index * top);
      scores.topLogprobs.set(
        places.map((id) => logits[id]! - total),
        index * top,
      );
    }
    const whole = wanted.hidden || wanted.distribution;
    if (!wanted.entropy && !whole) return;
    const row = logits.map((logit) => logit - total);
    if (scores.entropy !== undefined) scores.entropy[index] = entropyOf(row);
    if (!whole) return;
    this.#rows ??= new Float32Array(targets.length * row.length);
    this.#rows.set(row, index * row.length);
    if (wanted.hidden) scores.hidden = this.#rows;
    if (wanted.distribution) scores.distribution = this.#rows;
  }
}
