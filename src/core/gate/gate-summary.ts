/** What the gate says over many decisions: a mean per context, and which contexts differ. */
import { shuffled } from "../seeded.ts";
import { type Estimate, estimate } from "../statistics/ablation.ts";
import type { GateContext, GateDecision } from "./gate-case.ts";

export interface ContextFigures {
  context: GateContext;
  /** Mean probability of an optimal action over the decisions; interval over episodes. */
  optimal: Estimate;
  /** Mean tokens of h_t with its evidence: what the context costs to read. */
  promptTokens: number | null;
}

/** A paired difference: the same decisions under two contexts. */
export interface ContextDifference {
  from: GateContext;
  to: GateContext;
  /** Mean of `to` − `from` over the decisions; interval over episodes. */
  difference: Estimate;
  /** The 95 % interval excludes 0, over at least `FEWEST_EPISODES`. */
  separated: boolean;
  /** Decisions at which the two give different probabilities; elsewhere they read the same, or as good as. */
  differing: number;
}

export interface GateSummary {
  decisions: number;
  episodes: number;
  tasks: number;
  /** Decisions at which the student took an optimal action. */
  studentOptimal: number;
  contexts: ContextFigures[];
  /** Every pair, in the order of the contexts. */
  differences: ContextDifference[];
}

/**
 * Fewer episodes separate nothing: where all of n differences have one sign, which is chance 2 × 0.5ⁿ of the time, no
 * resample of them gives another, and the bootstrap interval excludes 0. From six on that chance is below 5 %.
 */
export const FEWEST_EPISODES = 6;

/**
 * Which decisions are scored, and in which order: at random over all of them, so that the figures of the first n are
 * those of a sample.
 */
export function gateOrder<T>(decisions: readonly T[], seed: number, limit?: number): T[] {
  return shuffled(decisions.length, seed)
    .slice(0, limit)
    .map((n) => decisions[n]!);
}

/**
 * Figures of scored decisions, all under the same contexts. Intervals are 95 %, by bootstrap over episodes, since the
 * decisions of one are not independent; they are for one pair each and not corrected for the number of pairs. Fewer than
 * two episodes give none; fewer than `FEWEST_EPISODES` separate nothing.
 */
export function summarizeGate(decisions: readonly GateDecision[], seed = 0): GateSummary {
  const episodes = new Map<string, GateDecision[]>();
  for (const each of decisions) {
    const key = JSON.stringify([each.environment, each.task, each.episode]);
    episodes.set(key, [...(episodes.get(key) ?? []), each]);
  }
  const clusters = [...episodes.values()];
  const counts = clusters.map(({ length }) => length);
  const over = (value: (decision: GateDecision) => number): Estimate =>
    estimate({ sums: clusters.map((of) => of.reduce((sum, each) => sum + value(each), 0)), counts }, seed);
  const names = decisions[0]?.readings.map(({ context }) => context) ?? [];
  const contexts = names.map((context, c) => ({
    context,
    optimal: over(({ readings }) => readings[c]!.optimal),
    promptTokens:
      decisions.reduce((sum, { readings }) => sum + readings[c]!.promptTokens, 0) / decisions.length,
  }));
  const differences = names.flatMap((from, a) =>
    names.slice(a + 1).map((to, i) => {
      const of = ({ readings }: GateDecision) => readings[a + 1 + i]!.optimal - readings[a]!.optimal;
      const difference = over(of);
      const { interval } = difference;
      return {
        from,
        to,
        difference,
        separated:
          clusters.length >= FEWEST_EPISODES && interval !== null && (interval[0] > 0 || interval[1] < 0),
        differing: decisions.filter((each) => of(each) !== 0).length,
      };
    }),
  );
  return {
    decisions: decisions.length,
    episodes: clusters.length,
    tasks: new Set(decisions.map(({ environment, task }) => JSON.stringify([environment, task]))).size,
    studentOptimal: decisions.filter(({ actions }) => actions.some(({ optimal, taken }) => optimal && taken))
      .length,
    contexts,
    differences,
  };
}
