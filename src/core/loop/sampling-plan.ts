/** How a stage has the student play a batch, and what is reported about the episodes. */
import type { Stage } from "../method/method.ts";
import { depthAt, prefixAt } from "../method/ramp.ts";
import type { Episode, Source } from "../record/schema.ts";
import { cutAt, isProbe } from "./adaptive-depth.ts";
import type { SamplingPlan } from "./data.ts";
import { isReplayed, referenceOf, replayedPrefix } from "./references.ts";

/**
 * How a stage has the student play at one of its updates, counted from 0.
 *
 * @param average the running average of an adaptive depth; null before its first probe
 * @param sources all sources of a task, for the references that are replayed
 */
export function samplingPlan(
  { sampling, reward }: Pick<Stage, "sampling" | "reward">,
  update: number,
  average: number | null,
  sources: (environment: string, task: string) => Promise<readonly Source[]>,
): SamplingPlan {
  const group = reward?.group;
  switch (sampling?.kind) {
    case "depth":
      return { group, depth: (environment, horizon) => depthAt(sampling, environment, update, horizon) };
    case "adaptive-depth":
      if (isProbe(sampling, update)) return { group };
      return { group, depth: (_, horizon) => cutAt(sampling, average, horizon) };
    case "prefix":
      return {
        group,
        prefix: async (environment, task) => {
          const reference = referenceOf(await sources(environment, task));
          if (reference === null) return null;
          const actions = prefixAt(sampling, environment, update, reference.decisions.length);
          return actions === 0 ? null : replayedPrefix(reference, actions);
        },
      };
    default:
      return { group };
  }
}

/** The figures of a batch's episodes that a `rollout` event reports. */
export function rolloutFigures(episodes: readonly Episode[], { depth, prefix }: SamplingPlan) {
  const cut = depth?.(episodes[0]?.environment ?? "", Number.POSITIVE_INFINITY) ?? Number.POSITIVE_INFINITY;
  const isCut = episodes.some(
    ({ decisions, outcome }) => outcome.ended === "horizon" && decisions.length === cut,
  );
  const replayed = episodes.reduce((sum, { decisions }) => sum + decisions.filter(isReplayed).length, 0);
  const ended: Record<string, number> = {};
  for (const { outcome } of episodes) ended[outcome.ended] = (ended[outcome.ended] ?? 0) + 1;
  return {
    episodes: episodes.length,
    decisions: episodes.reduce((sum, { decisions }) => sum + decisions.length, -replayed),
    successes: episodes.filter(({ outcome }) => outcome.success).length,
    ended,
    ...(prefix === undefined ? {} : { replayed }),
    ...(isCut ? { depth: cut } : {}),
  };
}
