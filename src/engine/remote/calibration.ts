/** How far the log-probabilities of two engines lie apart, and what is made of it. */
import { InputError } from "../../core/errors.ts";
import type { Calibration, EngineInfo, ScoreRequest, ScoreResult } from "../../core/ports.ts";

/** Nats: above, two engines do not compute the same model. */
export const REFUSED_ABOVE = 0.5;
/** Nats: above, numbers of fewer bits are at work at least. */
export const TOLD_ABOVE = 0.05;

/** Decisions that are compared. */
const DECISIONS = 3;

/** The shortest, the middle and the longest of some requests, or all of up to three: faults of positions grow with length. */
export function calibrationSet(requests: readonly ScoreRequest[]): ScoreRequest[] {
  const sorted = requests
    .filter(({ responseIds }) => responseIds.length > 0)
    .sort((a, b) => a.promptIds.length - b.promptIds.length);
  if (sorted.length <= DECISIONS) return sorted;
  return [sorted[0]!, sorted[Math.floor(sorted.length / 2)]!, sorted.at(-1)!];
}

/**
 * The difference of each response token's log-probability, largest and mean, in nats. The largest decides: a fault of few
 * tokens is one, too.
 *
 * @param against what the second scores are of, for people
 */
export function calibration(
  served: readonly Pick<ScoreResult, "logprobs">[],
  own: readonly { logprobs: ArrayLike<number> }[],
  against: string,
): Calibration {
  const differences = served.flatMap(({ logprobs }, n) =>
    Array.from(logprobs, (each, t) => Math.abs(each - own[n]!.logprobs[t]!)),
  );
  return {
    against,
    decisions: served.length,
    tokens: differences.length,
    largest: differences.reduce((most, each) => Math.max(most, each), 0),
    mean: differences.reduce((sum, each) => sum + each, 0) / Math.max(1, differences.length),
  };
}

export const calibrationText = ({ against, decisions, tokens, largest, mean }: Calibration): string =>
  `largest difference to ${against} ${largest.toPrecision(2)} nats, mean ${mean.toPrecision(2)}, ` +
  `over ${tokens} tokens of ${decisions} decision${decisions === 1 ? "" : "s"}`;

/** What serves a model and how far it is to be trusted, for people. */
export function servedWords({
  model,
  adapter,
  served,
}: Pick<EngineInfo, "model" | "adapter" | "served">): string {
  const { calibration: found = null, sameTokenizer = false } = served ?? {};
  const trust = found === null ? "not calibrated" : calibrationText(found);
  return `${model}, served by ${adapter} (${trust}${sameTokenizer ? "" : "; its tokenizer is not compared"})`;
}

/**
 * Whether the difference is more than numbers of fewer bits explain easily.
 *
 * @throws InputError when it is more than they explain at all, or is none
 */
export function isFarApart(found: Calibration, server: string): boolean {
  if (!(found.largest <= REFUSED_ABOVE))
    throw new InputError(
      `${server} does not compute this model as it should: ${calibrationText(found)}; at most ${REFUSED_ABOVE} is accepted`,
    );
  return found.largest > TOLD_ABOVE;
}
