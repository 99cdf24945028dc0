/**
 * What differs from one environment to the next, as data and pure functions: which visits are admitted, what is
 * retained when nothing trusted is there, the limits of the protocol, the locator and the response parser. Retrieval,
 * evidence and the loop read these rules and never ask for an environment by name.
 */
import type { Episode, State } from "../record/schema.ts";
import type { PromptRules } from "./prompt/rules.ts";
import type { Protocol, Purpose } from "./protocol.ts";
import type { StateChange } from "./state-change.ts";

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
  /** Longest graph-conditioned teacher context, in tokens: prompt, evidence, response and one token after it. */
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
  /** The raw case's own name, under the key that the input line used; null for a line that has none. */
  id: { key: "case" | "id"; value: string } | null;
  key: string;
  state: State | null;
}

/** One environment's rules. */
export interface EnvironmentRules {
  /** As records write it. */
  readonly name: string;
  readonly limits: EnvironmentLimits;
  /** What becomes of a student prompt over its limit: its last tokens stay (ScienceWorld), or it is an error. */
  readonly longPrompt: "keep-last" | "refuse";
  /** Only complete, replay-checked sources enter the library; the others give no visit at all (ALFWorld). */
  readonly trustedSourcesOnly: boolean;
  /**
   * Planner and oracle records enter the library only as trusted successes of at most so many decisions (ALFWorld: "plans
   * within the interaction budget"); null where any of them may.
   */
  readonly planDecisions: number | null;
  /** What records call the execution of a plan, and its repetition, after those of sampled executions. */
  readonly plan: { kind: "planner" | "oracle"; repetition: number };
  /** A successful source's terminal visit is an eligible entry with an empty suffix (ScienceWorld, WebShop). */
  readonly admitsTerminalEntry: boolean;
  /** A suffix is eligible only without a gap and when each feedback is the next observation (ScienceWorld, WebShop). */
  readonly checksContinuity: boolean;
  /**
   * The unaligned success must be eligible from its first visit on. Where false (ALFWorld) the shortest trusted success
   * is taken, whatever its first decision.
   */
  readonly testsUnalignedEntry: boolean;
  /** Raw records may be retained, labelled unverified, where no trusted reference exists (ScienceWorld, WebShop). */
  readonly unverifiedFallback: boolean;
  /**
   * Locator of one parsed line of raw captured states. Throws `InputError` with `where` and the key at fault. Null for
   * a custom environment: its records bring their own keys.
   */
  readonly locate: ((raw: unknown, where?: { file?: string; line?: number }) => Located) | null;
  /**
   * What differs between the descriptors of two states; null where one is not a descriptor of this environment. Null for
   * a custom environment, whose states are known by their keys alone.
   */
  readonly compareStates: ((left: unknown, right: unknown) => StateChange[] | null) | null;
  /** Reads a student response that answers `observation` (Appendix "Prompt and parser adaptations"). */
  parseResponse(response: string, observation: string): ParsedResponse;
  /** How the student's user message is built. */
  readonly prompt: PromptRules;
  /** How episodes are played, for each purpose. */
  readonly protocols: Readonly<Record<Purpose, Protocol>>;
  /** Whether a replay's text says what the recorded one said: the same text, up to the order of lists (ScienceWorld). */
  sameText(left: string, right: string): boolean;
  /** Type of a task, as evaluations group them; null where the environment has none, or the name does not say it. */
  taskType(task: string): string | null;
  /** Score of a finished evaluation episode in 0 … 100; null where the environment has none beside success (ALFWorld). */
  evaluationScore(episode: Pick<Episode, "decisions" | "outcome">): number | null;
}
