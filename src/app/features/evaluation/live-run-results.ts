/** What an evaluation of the page came to, and how two of them compare. */
import { InputError } from "../../../core/errors.ts";
import {
  type Comparison,
  compareEvaluations,
  type EvaluatedEpisode,
  type EvaluationResults,
  evaluationResults,
} from "../../../core/evaluation/index.ts";
import { differingSettings, playSettings } from "../../../core/loop/play-settings.ts";
import { countOf } from "../../../core/plural.ts";
import { shownName } from "../../base/text/shown-text.ts";
import type { LiveRun } from "./live-runs-store.ts";

/** Figures, or why there are none. */
export type Results<T> = { results: T } | { problem: string };

const resultsOf = <T>(of: () => T): Results<T> => {
  try {
    return { results: of() };
  } catch (error) {
    if (!(error instanceof InputError)) throw error;
    return { problem: error.message };
  }
};

const evaluated = ({ outcomes }: LiveRun): EvaluatedEpisode[] =>
  [...outcomes.values()].filter((outcome) => outcome !== null);

/** The figures of an evaluation that was played to its end. */
export const evaluationOf = (run: LiveRun): Results<EvaluationResults> =>
  resultsOf(() => evaluationResults(evaluated(run)));

/** The paired difference of two evaluations, the first less the second. */
export const comparisonOf = (a: LiveRun, b: LiveRun): Results<Comparison> =>
  resultsOf(() => compareEvaluations(evaluated(a), evaluated(b)));

/** In words, how differently two evaluations were played. */
export const differingOf = (a: LiveRun, b: LiveRun): string[] => {
  const [mine, theirs] = [a, b].map(({ plan }) =>
    playSettings(
      plan.environment,
      plan.kind,
      plan,
      plan.prompt === undefined ? null : JSON.stringify(plan.prompt),
    ),
  );
  return differingSettings(mine!, theirs!);
};

/** Whether two evaluations were played on the same tasks and seeds, whatever their order. */
export function isComparable(a: LiveRun, b: LiveRun): boolean {
  const pairs = ({ plan, ids }: LiveRun): string =>
    JSON.stringify([plan.kind, plan.environment, [...ids].sort()]);
  return pairs(a) === pairs(b);
}

/** "12 executions, 5 successful, 11 verified": what a collection has so far. */
export function collectedText({ outcomes }: LiveRun): string {
  const records = [...outcomes.values()].filter((outcome) => outcome !== null);
  const count = (of: (outcome: (typeof records)[number]) => boolean): number => records.filter(of).length;
  const technical = count((outcome) => outcome.technical !== undefined);
  return [
    countOf(records.length, "execution"),
    `${count(({ success }) => success)} successful`,
    `${count(({ verified }) => verified === true)} verified`,
    technical === 0 ? "" : `${technical} ended for a technical reason`,
  ]
    .filter((part) => part !== "")
    .join(", ");
}

/** "alfworld, 2 tasks × seeds 0, 1", or "alfworld, 2 tasks, K = 16 and plans", and what takes the protocol's place. */
export function liveRunWords({ plan }: Pick<LiveRun, "plan">): string {
  const tasks = `${plan.environment}, ${countOf(plan.tasks.length, "task")}`;
  const played =
    plan.kind === "evaluate"
      ? `${tasks} × ${plan.seeds.length === 1 ? "seed" : "seeds"} ${plan.seeds.join(", ")}`
      : `${tasks}, K = ${plan.repetitions}${plan.planner ? " and plans" : ""}`;
  return [played, ...ownWords(plan)].join(", ");
}

/** What a run sets in place of its environment's protocol. */
function ownWords(plan: LiveRun["plan"]): string[] {
  const { temperature, top_p: topP, top_k: topK, max_decisions, max_tokens, prompt } = plan;
  return [
    temperature === undefined ? "" : `T = ${temperature}`,
    topP === undefined ? "" : `top-p = ${topP}`,
    topK === undefined ? "" : `top-k = ${topK}`,
    max_decisions === undefined ? "" : `at most ${countOf(max_decisions, "decision")}`,
    max_tokens === undefined ? "" : `${countOf(max_tokens, "token")} per response`,
    prompt === undefined ? "" : `prompt ${shownName(prompt.name, 60)}`,
  ].filter((part) => part !== "");
}
