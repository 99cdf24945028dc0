/** How many decisions a stage's student will make, as far as its schedule and whole episodes determine it beforehand. */
import type { Stage } from "../method/method.ts";
import { depthAt, prefixAt } from "../method/ramp.ts";
import { isProbe } from "./adaptive-depth.ts";

export interface ScheduledEnvironment {
  environment: string;
  /** Decisions of an episode at most. */
  horizon: number;
  /** Decisions of whole episodes of a student; not empty. */
  lengths: readonly number[];
  /** Actions of each task's reference; null where a task has none. Only read where prefixes are replayed. */
  references: readonly (number | null)[];
}

/** From the least to the most that is possible. */
export interface DecisionRange {
  low: number;
  high: number;
}

/**
 * Mean decisions of the student in one episode of update s of a stage.
 *
 * Cut episodes are whole ones cut: exact as far as `lengths` are those of the training. Behind a prefix the student makes
 * one decision at least, and at most those that the horizon leaves. Between two probes of an adaptive depth, episodes have
 * `least` decisions, or are whole.
 */
export function decisionsAt(
  { sampling }: Pick<Stage, "sampling">,
  update: number,
  { environment, horizon, lengths, references }: ScheduledEnvironment,
): DecisionRange {
  const cut = (depth: number): number => mean(lengths.map((length) => Math.min(length, depth)));
  const whole = cut(horizon);
  switch (sampling?.kind) {
    case "depth": {
      const decisions = cut(depthAt(sampling, environment, update, horizon));
      return { low: decisions, high: decisions };
    }
    case "adaptive-depth":
      return { low: isProbe(sampling, update) ? whole : cut(sampling.least), high: whole };
    case "prefix": {
      const replayed = references.map((actions) =>
        actions === null ? 0 : prefixAt(sampling, environment, update, actions),
      );
      // A replay to the horizon leaves nothing: the episode is left out.
      const left = (actions: number) => Math.max(0, horizon - actions);
      return {
        low: mean(replayed.map((actions) => (actions === 0 ? whole : Math.min(1, left(actions))))),
        high: mean(replayed.map((actions) => (actions === 0 ? whole : left(actions)))),
      };
    }
    default:
      return { low: whole, high: whole };
  }
}

/** The mean of that over the updates of a stage, which begins at its update `from`. */
export function scheduledDecisions(
  stage: Pick<Stage, "sampling">,
  { from = 0, updates }: { from?: number; updates: number },
  place: ScheduledEnvironment,
): DecisionRange {
  const all = Array.from({ length: updates }, (_, n) => decisionsAt(stage, from + n, place));
  return { low: mean(all.map(({ low }) => low)), high: mean(all.map(({ high }) => high)) };
}

const mean = (values: readonly number[]): number =>
  values.reduce((sum, value) => sum + value, 0) / values.length;
