/** How episodes are played: two evaluations that differ in it do not compare their students alone. */
import { environmentRules } from "../environment/environment.ts";
import type { Purpose } from "../environment/protocol.ts";
import { plural } from "../plural.ts";
import type { EnvironmentConfig } from "./live-config.ts";
import type { Draws } from "./planned-episodes.ts";

/** Sampling, limits and prompt of a run. */
export interface PlaySettings {
  temperature: number;
  top_p: number;
  /** Null: no bound. */
  top_k: number | null;
  max_decisions: number;
  max_tokens: number;
  /** Which prompt takes the place of the environment's; null for the environment's. */
  prompt: string | null;
}

/**
 * A run's settings, with the environment's protocol (Appendix "Agent inputs and evaluation") for those it does not set.
 *
 * @param prompt names the prompt that replaces the environment's; null where none does
 */
export function playSettings(
  environment: string,
  purpose: Exclude<Purpose, "train">,
  own: Draws & Pick<EnvironmentConfig, "max_decisions" | "max_tokens">,
  prompt: string | null,
): PlaySettings {
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

/** How two runs differ, in words; `a` is here: "at most 30 decisions here, 50 there". Empty where they are alike. */
export function differingSettings(a: PlaySettings, b: PlaySettings): string[] {
  const unlike = (key: keyof PlaySettings, here: string): string =>
    a[key] === b[key] ? "" : `${here} here, ${b[key] ?? "none"} there`;
  return [
    unlike("temperature", `temperature ${a.temperature}`),
    unlike("top_p", `top-p ${a.top_p}`),
    unlike("top_k", `top-k ${a.top_k ?? "none"}`),
    unlike("max_decisions", `at most ${a.max_decisions} ${plural(a.max_decisions, "decision")}`),
    unlike("max_tokens", `at most ${a.max_tokens} ${plural(a.max_tokens, "token")} per response`),
    a.prompt === b.prompt ? "" : "another prompt",
  ].filter((words) => words !== "");
}
