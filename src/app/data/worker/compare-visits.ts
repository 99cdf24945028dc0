/** Two visits of one task set beside each other: what was seen, done and answered, and what differs between the states. */
import { stateDifference } from "../../../core/environment/state-difference.ts";
import { InputError } from "../../../core/errors.ts";
import { stateAt } from "../../../core/graph/index.ts";
import type { Episode, Source } from "../../../core/record/schema.ts";
import { knownSuccess } from "../../../core/record/standing.ts";
import type { ComparedVisit } from "../../url/place.ts";
import { textDifference } from "../library/text-difference.ts";
import type { VisitComparison, VisitSide } from "../model.ts";

/** @throws InputError when the task has no such execution, episode or visit */
export function compareVisits(
  records: { sources: readonly Source[]; episodes: readonly Episode[] },
  visits: readonly [ComparedVisit, ComparedVisit],
): VisitComparison {
  const [left, right] = visits.map((visit) => ({ visit, execution: executionOf(records, visit) })) as [
    Found,
    Found,
  ];
  const sides: [VisitSide, VisitSide] = [sideOf(left), sideOf(right)];
  return {
    sides,
    observation: textDifference(sides[0].observation, sides[1].observation),
    feedback: textDifference(sides[0].feedback ?? "", sides[1].feedback ?? ""),
    state: stateDifference(
      left.execution.environment,
      stateAt(left.execution, left.visit.position),
      stateAt(right.execution, right.visit.position),
    ),
  };
}

interface Found {
  visit: ComparedVisit;
  execution: Source | Episode;
}

function executionOf(
  { sources, episodes }: { sources: readonly Source[]; episodes: readonly Episode[] },
  { kind, id, position }: ComparedVisit,
): Source | Episode {
  const found =
    kind === "source"
      ? sources.find(({ source }) => source === id)
      : episodes.find(({ episode }) => episode === id);
  const what = kind === "source" ? "execution" : "episode";
  if (found === undefined) throw new InputError(`This task has no ${what} ${id}.`);
  const { length } = found.decisions;
  if (position > length) {
    throw new InputError(
      `${kind === "source" ? "Execution" : "Episode"} ${id} has no visit ${position}: they go from 0 to ${length}.`,
    );
  }
  return found;
}

function sideOf({ visit, execution }: Found): VisitSide {
  const { decisions } = execution;
  const decision = decisions[visit.position];
  const state = stateAt(execution, visit.position);
  const attempts = decision?.attempts;
  return {
    ...visit,
    success: knownSuccess(execution),
    decisions: decisions.length,
    // At its end an execution has seen what its last decision was answered.
    observation: decision?.observation ?? decisions.at(-1)?.feedback ?? execution.initial_observation,
    action: decision?.action ?? null,
    binding: decision?.binding ?? null,
    status: decision?.status ?? "terminal",
    feedback: decision?.feedback ?? null,
    attempts: Array.isArray(attempts) ? attempts.length : 0,
    gapBefore: decision?.gap_before ?? false,
    key: state?.key ?? null,
  };
}
