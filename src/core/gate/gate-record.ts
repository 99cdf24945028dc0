/** The gate's results as files have them. */
import type { GateDecision } from "./gate-case.ts";
import type { GateSummary } from "./gate-summary.ts";

/** One line per decision: the probability of each action and of an optimal one, under each context. */
export function gateLine({ environment, task, episode, decision, actions, readings }: GateDecision) {
  return {
    environment,
    task,
    episode,
    decision,
    actions,
    contexts: Object.fromEntries(
      readings.map(({ context, promptTokens, logprobs, optimal }) => [
        context,
        { prompt_tokens: promptTokens, optimal, action_logprobs: logprobs },
      ]),
    ),
  };
}

/** The summary, with what is needed to compute it again. */
export function gateReport(
  { decisions, episodes, tasks, studentOptimal, contexts, differences }: GateSummary,
  about: object,
) {
  return {
    format: "gcopd.gate.v1",
    ...about,
    decisions,
    episodes,
    tasks,
    student_optimal: studentOptimal,
    contexts: contexts.map(({ context, optimal, promptTokens }) => ({
      context,
      mean: optimal.value,
      interval: optimal.interval,
      prompt_tokens: promptTokens,
    })),
    differences: differences.map(({ from, to, difference, separated, differing }) => ({
      from,
      to,
      mean: difference.value,
      interval: difference.interval,
      separated,
      differing,
    })),
  };
}
