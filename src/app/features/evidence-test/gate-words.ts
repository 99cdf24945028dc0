/** What the evidence test says, in words and as tables for other programs. */
import {
  type ContextDifference,
  FEWEST_EPISODES,
  type GateContext,
  type GateDecision,
  type GateSummary,
} from "../../../core/gate/index.ts";
import type { Estimate } from "../../../core/statistics/index.ts";
import { csvField } from "../../base/export/csv-field.ts";
import { trueMinus } from "../../base/format.ts";
import { CONTROL_TITLES } from "../../url/what-if.ts";

export const CONTEXT_TITLES: Record<GateContext, string> = {
  ...CONTROL_TITLES,
  none: "no evidence",
};

/** A probability, or a mean of some: three digits, small ones with an exponent. */
export const share = (value: number): string =>
  value === 0 || value >= 0.0005 ? value.toFixed(3) : trueMinus(value.toExponential(0));

/** A difference of two, with its sign. */
export const change = (value: number): string =>
  value === 0 ? share(0) : `${value < 0 ? "−" : "+"}${share(Math.abs(value))}`;

/** `+0.254 (95 % +0.221 to +0.288)` */
export function changeText({ value, interval }: Estimate): string {
  if (value === null) return "–";
  return interval === null
    ? change(value)
    : `${change(value)} (95 % ${change(interval[0])} to ${change(interval[1])})`;
}

export interface Answer {
  word: string;
  sentence: string;
}

/** Where no context comes to more than this, a difference says next to nothing. */
const HARDLY = 0.01;

/** Whether the evidence helps: the context with the most evidence against the one with none, as far as both were asked. */
export function answer({ contexts, differences, decisions, episodes }: GateSummary): Answer | null {
  const [first] = contexts;
  const last = contexts.at(-1);
  const pair = differences.find(({ from, to }) => from === first?.context && to === last?.context);
  if (decisions === 0 || first === undefined || last === undefined || pair === undefined) return null;
  const { difference, separated } = pair;
  const known = episodes >= FEWEST_EPISODES;
  const word =
    first.context !== "none"
      ? `Not asked: “${CONTEXT_TITLES.none}” is left out`
      : !known
        ? "Not known yet"
        : !separated
          ? "No clear difference"
          : difference.value! > 0
            ? "Yes"
            : "No";
  const so = known ? "" : "; fewer than six episodes say nothing";
  const hardly = contexts.every(({ optimal }) => optimal.value! < HARDLY)
    ? " This teacher hardly ever gives an optimal action, whatever it reads: the difference says little."
    : "";
  return {
    word,
    sentence:
      `The teacher’s probability of an optimal action is ${share(last.optimal.value!)} with ${CONTEXT_TITLES[last.context]} and ` +
      `${share(first.optimal.value!)} with ${CONTEXT_TITLES[first.context]}: ${changeText(difference)}${so}.${hardly}`,
  };
}

/** `success only over hindsight only` */
export const pairName = ({ from, to }: Pick<ContextDifference, "from" | "to">): string =>
  `${CONTEXT_TITLES[to]} over ${CONTEXT_TITLES[from]}`;

/** One line per decision and context, numbers in full. */
export function gateCsv(decisions: readonly GateDecision[]): string {
  const lines = ["environment,task,episode,decision,context,prompt_tokens,p_optimal,p_taken"];
  for (const { environment, task, episode, decision, actions, readings } of decisions) {
    const taken = actions.findIndex((action) => action.taken);
    for (const { context, promptTokens, optimal, logprobs } of readings)
      lines.push(
        [
          ...[environment, task, episode].map(csvField),
          ...[decision, context, promptTokens, optimal, taken < 0 ? "" : Math.exp(logprobs[taken]!)],
        ].join(","),
      );
  }
  return `${lines.join("\r\n")}\r\n`;
}
