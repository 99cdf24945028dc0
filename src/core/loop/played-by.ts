/** What episodes are played by: two evaluations that differ in it measure more than their students. */
import { environmentRules } from "../environment/environment.ts";
import type { Purpose } from "../environment/protocol.ts";
import type { EnvironmentConfig } from "./live-config.ts";
import type { Draws } from "./planned-episodes.ts";

/** The settings of a run, the environment's where it has none of its own. */
export interface PlayedBy {
  temperature: number;
  top_p: number;
  /** Null: no bound. */
  top_k: number | null;
  max_decisions: number;
  max_tokens: number;
  /** Which prompt takes the place of the environment's; null for the environment's. */
  prompt: string | null;
}

export function playedBy(
  environment: string,
  purpose: Exclude<Purpose, "train">,
  own: Draws & Pick<EnvironmentConfig, "max_decisions" | "max_tokens">,
  prompt: string | null,
): PlayedBy {
  const { limits, protocols } = environmentRules(environment);
  const { temperature, topP, topK } = protocols[purpose].sampling;
  return {
    temperature: own.temperature ?? temperature,
    top_p: own.top_p ?? topP,
    top_k: own.top_k ?? topK,
    max_decisions: own.max_decisions ?? limits.decisions,
    max_tokens: own.max_tokens ?? limits.responseTokens,
    prompt,
  };
}

/** In words, what two runs were not played by alike: "temperature 0.4 and 1". */
export function differingSettings(a: PlayedBy, b: PlayedBy): string[] {
  const { prompt: _, ...numbers } = a;
  const keys = Object.keys(numbers) as (keyof typeof numbers)[];
  return [
    ...keys.flatMap((key) =>
      a[key] === b[key] ? [] : [`${key} ${a[key] ?? "none"} and ${b[key] ?? "none"}`],
    ),
    ...(a.prompt === b.prompt ? [] : ["the prompt"]),
  ];
}
