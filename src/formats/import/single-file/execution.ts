/** Source records from plain turns: what every format without state keys comes down to. */
import {
  isRejection,
  nextParserState,
  type ParserState,
} from "../../../core/environment/scienceworld/parser-mode.ts";
import type { Outcome, Source, SourceDecision, State, Status } from "../../../core/record/schema.ts";

/** One decision as a foreign format tells it. */
export interface Turn {
  observation: string;
  /** Null: the reply held no action. */
  action: string | null;
  feedback: string;
  score?: number | null;
  state?: State | null;
  /** The recording is not continuous from the turn before. */
  gap?: boolean;
}

/** True when the environment refused the action and nothing happened. */
function isRefused(environment: string, feedback: string): boolean {
  if (environment === "scienceworld") return isRejection(feedback);
  return environment === "alfworld" && feedback.trim() === "Nothing happens.";
}

/** A menu choice: digits that name an option of the menu that is open. */
function bindingOf(action: string | null, menu: ParserState): string | null {
  if (action === null || menu.mode !== "pending_menu" || !/^\d+$/.test(action)) return null;
  return Object.hasOwn(menu.options, action) ? menu.options[action]! : null;
}

function statusOf(environment: string, turn: Turn, binding: string | null): Status {
  if (turn.action === null) return "malformed";
  if (isRefused(environment, turn.feedback)) return "rejected";
  return binding === null ? "executed" : "binding";
}

/** Decisions of the format from turns. ScienceWorld's menus are followed, so that a chosen number gets its meaning. */
export function decisionsOf(environment: string, initial: string, turns: readonly Turn[]): SourceDecision[] {
  const menus = environment === "scienceworld";
  const rest: ParserState = { mode: "normal", options: {} };
  let menu = menus ? nextParserState(rest, { feedback: initial, stepped: true }) : rest;
  return turns.map((turn) => {
    const binding = bindingOf(turn.action, menu);
    if (menus) menu = nextParserState(menu, { feedback: turn.feedback, stepped: turn.action !== null });
    return {
      observation: turn.observation,
      state: turn.state ?? null,
      action: turn.action,
      binding,
      status: statusOf(environment, turn, binding),
      feedback: turn.feedback,
      score: turn.score ?? null,
      gap_before: turn.gap === true,
      attempts: [],
    };
  });
}

/** The outcome where the format has none: `success` false stands for "unknown", see `outcome_unknown`. */
export const UNKNOWN_OUTCOME: Outcome = {
  complete: true,
  success: false,
  score: null,
  ended: "technical",
  verified: false,
  reported_success: false,
};

/** A source `other:<repetition>`. Without an outcome it says `outcome_unknown`. */
export function otherSource(given: {
  environment: string;
  task: string;
  repetition: number;
  origin?: Record<string, unknown>;
  description?: string;
  initial: string;
  turns: readonly Turn[];
  finalState?: State | null;
  outcome?: Outcome;
}): Source {
  return {
    format: "gcopd.source.v1",
    environment: given.environment,
    task: given.task,
    source: `other:${given.repetition}`,
    repetition: given.repetition,
    origin: { ...given.origin, kind: "other" },
    task_description: given.description ?? "",
    initial_observation: given.initial,
    decisions: decisionsOf(given.environment, given.initial, given.turns),
    final_state: given.finalState ?? null,
    outcome: given.outcome ?? { ...UNKNOWN_OUTCOME },
    ...(given.outcome === undefined ? { outcome_unknown: true } : {}),
  };
}

/** ALFWorld's task sentence, as its reset text ends: the text after "Your task is to:". Empty when there is none. */
export function alfworldTask(environment: string, text: string): string {
  if (environment !== "alfworld") return "";
  return /Your task is to:[ \t]*([^\n]*)/.exec(text)?.[1]?.trim() ?? "";
}
