/**
 * What differs from one environment to the next, as data and pure functions: which visits are admitted, what is
 * retained when nothing trusted is there, the limits of the protocol, the locator and the response parser. Retrieval,
 * evidence and the loop read these rules and never ask for an environment by name.
 */
import { InputError } from "../errors.ts";
import type { State } from "../record/schema.ts";
import { SCIENCEWORLD } from "./scienceworld/rules.ts";

/** Limits of one environment (Table "Environment-specific interaction settings"). Token counts are per decision. */
export interface EnvironmentLimits {
  /** Observation–action pairs that the student's prompt repeats. */
  historyPairs: number;
  /** Most decisions of one episode. */
  decisions: number;
  /** Longest student prompt, in tokens. */
  promptTokens: number;
  /** Longest student response, in tokens. */
  responseTokens: number;
  /** Longest teacher context, evidence, response and end included, in tokens. */
  teacherContextTokens: number;
  /** Longest original prompt together with its evidence R_t, in tokens, before the response. */
  evidenceTokens: number;
}

/** A response as the environment's parser reads it. */
export interface ParsedResponse {
  /** What is executed; null when the response is malformed, and then `problem` says why. May be "" (blank answer). */
  action: string | null;
  /** Text of the closed thought, or null when there is none. */
  thought: string | null;
  /** One sentence, or null when the response is well formed. */
  problem: string | null;
}

/** The locator of one raw captured state. `state` is null where the visit cannot match anything (⊥). */
export interface Located {
  /** The raw case's own name, under the key that the input line used. */
  id: { key: "case" | "id"; value: string };
  key: string;
  state: State | null;
}

/** One environment's rules. */
export interface EnvironmentRules {
  /** As records write it. */
  readonly name: string;
  readonly limits: EnvironmentLimits;
  /** A successful source's terminal visit is an eligible entry with an empty suffix (ScienceWorld, WebShop). */
  readonly admitsTerminalEntry: boolean;
  /** A suffix is eligible only without a gap and when each feedback is the next observation (ScienceWorld, WebShop). */
  readonly checksContinuity: boolean;
  /** Raw records may be retained, labelled unverified, where no trusted reference exists (ScienceWorld, WebShop). */
  readonly unverifiedFallback: boolean;
  /** Locator of one parsed line of raw captured states. Throws `InputError` with `where` and the key at fault. */
  locate(raw: unknown, where?: { file?: string; line?: number }): Located;
  /** Reads a student response that answers `observation` (Appendix "Prompt and parser adaptations"). */
  parseResponse(response: string, observation: string): ParsedResponse;
}

const ENVIRONMENTS: ReadonlyMap<string, EnvironmentRules> = new Map([[SCIENCEWORLD.name, SCIENCEWORLD]]);

/** Names of the environments that this version has rules for. */
export function environmentNames(): string[] {
  return [...ENVIRONMENTS.keys()];
}

/** The rules of the environment that records call `name`; `InputError` (with `where`) when this version has none. */
export function environmentRules(
  name: string,
  where: { file?: string; line?: number; key?: string } = {},
): EnvironmentRules {
  const rules = ENVIRONMENTS.get(name);
  if (rules === undefined) {
    throw new InputError(
      `no rules for environment ${JSON.stringify(name)}: this version has ${environmentNames().join(", ")}`,
      where,
    );
  }
  return rules;
}
