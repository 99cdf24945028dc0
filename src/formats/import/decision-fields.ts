/** How the authors' files say what a decision, a state and an ending are, in the terms of library format 1. */
import { z } from "zod";
import type { Outcome, State, Status } from "../../core/record/schema.ts";
import { foldWhiteSpace } from "../../core/white-space.ts";

/** The parts of the authors' state that are read. */
export const foreignStateSchema = z.looseObject({
  key: z.string().nullish(),
  node_key: z.string().nullish(),
  interaction: z
    .looseObject({ mode: z.string(), options: z.record(z.string(), z.string()).nullish() })
    .nullish(),
  capture_ok: z.boolean().nullish(),
  matchable: z.boolean().nullish(),
});

/** The parts of the authors' committed step that are read. Marks such as `rejection` are a text, a boolean or null. */
export const foreignStepSchema = z.looseObject({
  action: z.string().nullable(),
  semantic_action: z.string().nullish(),
  observation_before: z.string(),
  feedback: z.string().nullable(),
  format_error: z.unknown().optional(),
  rejection: z.unknown().optional(),
  env_rejection: z.unknown().optional(),
  rolled_back_attempt: z.boolean().nullish(),
  recording_gap_before: z.boolean().nullish(),
  continuous_from_previous: z.boolean().nullish(),
  positive_candidate_allowed: z.boolean().nullish(),
  decision_index: z.int().nullish(),
  score: z.number().nullish(),
  reward: z.number().nullish(),
  done: z.boolean().nullish(),
});

export type ForeignState = z.infer<typeof foreignStateSchema>;
export type ForeignStep = z.infer<typeof foreignStepSchema>;

/** A mark is set when Python would call it true. */
export function isSet(mark: unknown): boolean {
  if (typeof mark === "object" && mark !== null) return Object.keys(mark).length > 0;
  return Boolean(mark);
}

/** What a menu choice stood for: only a number that means another command is a choice. */
export function bindingOf(action: string | null, semanticAction: string | null | undefined): string | null {
  if (action === null || semanticAction === null || semanticAction === undefined) return null;
  if (!/^[0-9]+$/.test(action)) return null;
  const meaning = foldWhiteSpace(semanticAction);
  return meaning === action || meaning === "" ? null : meaning;
}

interface Marks {
  format_error?: unknown;
  rejection?: unknown;
  env_rejection?: unknown;
  rolled_back_attempt?: boolean | null | undefined;
}

/** Status of a committed decision; its `kind` does not tell (see docs/importing.md). */
export function statusOf(marks: Marks, action: string | null, binding: string | null): Status {
  if (action === null || isSet(marks.format_error)) return "malformed";
  if (isSet(marks.rejection) || isSet(marks.env_rejection)) return "rejected";
  if (marks.rolled_back_attempt === true) return "rolled_back";
  return binding === null ? "executed" : "binding";
}

/** Recorded after an interruption: not continuous from the decision before. */
export function gapBefore(step: {
  recording_gap_before?: boolean | null | undefined;
  continuous_from_previous?: boolean | null | undefined;
}): boolean {
  return step.recording_gap_before === true || step.continuous_from_previous === false;
}

/** Locator of a visit in ScienceWorld and WebShop files; null when the capture cannot be matched. */
export function stateOf(state: ForeignState | null | undefined): State | null {
  if (state === null || state === undefined) return null;
  const key = state.key ?? state.node_key;
  if (typeof key !== "string" || state.capture_ok !== true || state.matchable !== true) return null;
  const { interaction } = state;
  if (interaction === null || interaction === undefined) return null;
  const options = interaction.options ?? {};
  const count = Object.keys(options).length;
  if (
    !(interaction.mode === "normal" && count === 0) &&
    !(interaction.mode === "pending_menu" && count > 0)
  ) {
    return null;
  }
  return { key, mode: interaction.mode, options: { ...options } };
}

/** Locator of a visit in ALFWorld files, whose states have no parser control. */
export function alfworldState(state: ForeignState | null | undefined): State | null {
  if (state === null || state === undefined || state.capture_ok !== true) return null;
  return keyState(state.key);
}

/** The state of a bare key. */
export function keyState(key: string | null | undefined): State | null {
  return key === null || key === undefined ? null : { key, mode: "normal", options: {} };
}

type Ended = Outcome["ended"];

/** How a run ended, from the reason that its recorder gave. */
export function endedFromReason(reason: string): Ended {
  if (/^(success|environment)/.test(reason)) return "environment";
  if (/^(horizon|plan_exhausted|execution_capped)/.test(reason)) return "horizon";
  return "technical";
}

/** How a run ended, from its last step. */
export function endedFromSteps(
  steps: readonly { done?: boolean | null | undefined }[],
  horizon: number,
): Ended {
  if (steps.at(-1)?.done === true) return "environment";
  return steps.length >= horizon ? "horizon" : "technical";
}

/** Decisions that a run of the paper may take. */
export const HORIZON = { scienceworld: 30, alfworld: 30, webshop: 15 } as const;

export type AuthorsEnvironment = keyof typeof HORIZON;

/** Repetitions from here on are planners'. */
const FIRST_PLANNER_REPETITION = 1_000_000;

/** Who made a source. */
export function originKind(
  repetition: number,
  sourceKind: string | null | undefined,
): "planner" | "oracle" | "teacher" {
  if (repetition >= FIRST_PLANNER_REPETITION) return "planner";
  if (/^(oracle_)?planner/.test(sourceKind ?? "")) return "planner";
  return (sourceKind ?? "").startsWith("privileged") ? "oracle" : "teacher";
}
