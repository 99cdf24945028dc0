/** One source of a ScienceWorld or WebShop catalog as a record of library format 1. */
import { InputError } from "../../../core/errors.ts";
import type { Source, SourceDecision, State } from "../../../core/record/schema.ts";
import {
  bindingOf,
  endedFromReason,
  endedFromSteps,
  type ForeignStep,
  gapBefore,
  HORIZON,
  originKind,
  stateOf,
  statusOf,
} from "../decision-fields.ts";
import { attemptsOfBranches, attemptsOfOriginal, type PlacedAttempts } from "./attempts.ts";
import type { Branch, ManifestRow, ManifestTask, Original, Trajectory } from "./schema.ts";

export type GraphEnvironment = "scienceworld" | "webshop";

/** All that is known of one source. */
export interface SourceParts {
  environment: GraphEnvironment;
  task: ManifestTask;
  row: ManifestRow;
  /** Of the graph, if it has one. */
  trajectory: Trajectory | undefined;
  /** Where the trajectory came from, for messages. */
  graphFile: string;
  branches: readonly Branch[];
  /** The recorder's own file, when it is there and is the one that the manifest means. */
  original: Original | undefined;
  instruction: string | undefined;
}

/** States of a trajectory: T+1 for T steps, or none at all. */
function trajectoryStates(trajectory: Trajectory, file: string): (State | null)[] {
  const { states, steps, rep } = trajectory;
  if (states.length !== steps.length + 1 && !(states.length === 0 && steps.length === 0)) {
    throw new InputError(`${states.length} states for ${steps.length} steps; expected ${steps.length + 1}`, {
      file,
      key: `trajectories (rep ${rep}).states`,
    });
  }
  return states.map(stateOf);
}

/** Which steps the decisions are made of. */
function committedSteps(parts: SourceParts): readonly ForeignStep[] {
  const { trajectory, original, environment } = parts;
  if (trajectory === undefined) return original?.steps ?? [];
  if (trajectory.trusted_complete || original === undefined) return trajectory.steps;
  // Of a source that replay did not follow to its end, the graph keeps the verified beginning at most.
  if (environment === "scienceworld" || original.steps.length > trajectory.steps.length)
    return original.steps;
  return trajectory.steps;
}

function checkPrefix(parts: SourceParts, steps: readonly ForeignStep[]): void {
  const { trajectory, graphFile } = parts;
  if (trajectory === undefined || steps === trajectory.steps) return;
  const key = `trajectories (rep ${trajectory.rep}).steps`;
  if (trajectory.steps.length > steps.length) {
    throw new InputError(
      `${trajectory.steps.length} steps, but the original file of this source has ${steps.length}`,
      { file: graphFile, key },
    );
  }
  const odd = trajectory.steps.findIndex((step, index) => step.action !== steps[index]!.action);
  if (odd !== -1) {
    throw new InputError(
      `step ${odd} takes ${JSON.stringify(trajectory.steps[odd]!.action)}, but the original file of this source takes ${JSON.stringify(steps[odd]!.action)}`,
      { file: graphFile, key },
    );
  }
}

function outcomeOf(
  parts: SourceParts,
  steps: readonly ForeignStep[],
  scores: (number | null)[],
): Source["outcome"] {
  const { trajectory, original, row, environment } = parts;
  const trusted = trajectory?.trusted_complete === true;
  const summary = trajectory?.source_attempt_summary;
  const complete =
    trusted || original !== undefined || (summary?.accepted_decisions ?? summary?.decisions) === steps.length;
  const claim = trajectory?.source_won ?? row.source_won ?? original?.won ?? false;
  const reason = original?.end_reason ?? original?.status ?? undefined;
  return {
    complete,
    success: trusted ? trajectory.won === true && trajectory.trusted_success === true : complete && claim,
    score:
      original?.final_score ??
      original?.score ??
      trajectory?.final_score ??
      trajectory?.score ??
      scores.at(-1) ??
      null,
    ended: reason === undefined ? endedFromSteps(steps, HORIZON[environment]) : endedFromReason(reason),
    verified: trusted,
    reported_success: claim,
    ...(reason === undefined ? {} : { end_reason: reason }),
  };
}

/** The record. `InputError` when graph and original disagree about what was done. */
export function sourceRecord(parts: SourceParts): Source {
  const { environment, task, row, trajectory, original } = parts;
  const steps = committedSteps(parts);
  checkPrefix(parts, steps);
  const states = trajectory === undefined ? [] : trajectoryStates(trajectory, parts.graphFile);
  const scores = steps.map((step) => (environment === "webshop" ? step.reward : step.score) ?? null);
  const attempts: PlacedAttempts = original?.attempts
    ? attemptsOfOriginal(original, steps.length)
    : trajectory !== undefined
      ? attemptsOfBranches(parts.branches, trajectory, steps.length)
      : { before: [], after: [] };
  const decisions = steps.map((step, j): SourceDecision => {
    // The original does not mark refusals and gaps; where replay followed it, the graph does.
    const marks = { ...step, ...marksOf(trajectory?.steps[j]) };
    const malformed = statusOf(marks, step.action, null) === "malformed";
    const action = malformed ? null : step.action;
    const binding = bindingOf(action, step.semantic_action);
    return {
      observation: step.observation_before,
      state: states[j] ?? null,
      action,
      binding,
      status: statusOf(marks, action, binding),
      feedback: step.feedback ?? "",
      score: scores[j]!,
      gap_before: gapBefore(marks),
      attempts: attempts.before[j] ?? [],
      ...(marks.positive_candidate_allowed === false ? { entry_allowed: false } : {}),
    };
  });
  const sourceKind =
    environment === "webshop"
      ? (trajectory?.source_kind ?? row.source_kind ?? original?.source_kind)
      : (row.source_kind ?? trajectory?.source_kind ?? original?.source_kind);
  const kind = originKind(row.rep, sourceKind);
  const model = environment === "scienceworld" ? original?.sampling_protocol?.model_id : undefined;
  return {
    format: "gcopd.source.v1",
    environment,
    task: task.gamefile,
    source: `${kind}:${row.rep}`,
    repetition: row.rep,
    origin: {
      kind,
      ...(typeof model === "string" ? { model } : {}),
      ...(typeof sourceKind === "string" ? { source_kind: sourceKind } : {}),
      ...(typeof row.path === "string" ? { file: row.path } : {}),
    },
    task_description: parts.instruction ?? "",
    initial_observation: decisions[0]?.observation ?? trajectory?.states[0]?.observation ?? "",
    decisions,
    final_state: states[steps.length] ?? null,
    outcome: outcomeOf(parts, steps, scores),
    ...(attempts.after.length === 0 ? {} : { attempts_after_last: attempts.after }),
  };
}

/** The marks of a step that an original file does not carry. */
function marksOf(step: ForeignStep | undefined): Partial<ForeignStep> {
  if (step === undefined) return {};
  const marks: Partial<ForeignStep> = {};
  for (const key of MARKS) if (step[key] !== undefined) (marks as Record<string, unknown>)[key] = step[key];
  return marks;
}

const MARKS = [
  "format_error",
  "rejection",
  "env_rejection",
  "rolled_back_attempt",
  "recording_gap_before",
  "continuous_from_previous",
  "positive_candidate_allowed",
] as const;
