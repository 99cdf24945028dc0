/**
 * A reference chosen by hand, for the question what the teacher would say to another record (not in the paper). The
 * choice replaces what the rules retain, never what they ask: a visit must be eligible and share a state with the
 * student up to the scored decision, a whole record must be one that the rules could fall back on.
 */
import { InputError } from "../errors.ts";
import { matchingKey } from "../graph/matching-key.ts";
import { stateAt } from "../graph/task-graph.ts";
import type { Episode, Reference, Source } from "../record/schema.ts";
import { isTrustedFailure, isTrustedSuccess } from "../record/standing.ts";
import { sourceExclusion } from "./admission.ts";
import { REASON_TEXT } from "./explain.ts";
import type { LocatedEpisode } from "./located-episode.ts";
import type { PreparedTask } from "./prepare.ts";
import type { Pin } from "./types.ts";

/** Which of the two retained records is chosen. */
export type PinKind = "success" | "failure";

/** A choice in one word: `teacher:3@5`, or `teacher:3@whole` for the whole record. */
export function formatPin({ source, position }: Pin): string {
  return `${source}@${position ?? "whole"}`;
}

/** Reads what `formatPin` writes; a source id alone is the whole record. Null for the empty text. */
export function parsePin(text: string): Pin | null {
  const [, source, position] = /^(.+)@(whole|\d{1,9})$/s.exec(text) ?? [null, text, "whole"];
  if (!source) return null;
  return { source, position: position === "whole" ? null : Number(position) };
}

/** "teacher:3, visit 5", "the whole of teacher:3". */
export function pinName({ source, position }: Pin): string {
  return position === null ? `the whole of ${source}` : `${source}, visit ${position}`;
}

/**
 * The reference that a choice stands for at decision t: `current` where the visit shares the state of decision t,
 * `historical` at the latest earlier student position that it shares, `unaligned` for a whole record.
 *
 * @throws InputError with the reason when the choice cannot be a reference there
 */
export function pinnedReference(located: LocatedEpisode, t: number, kind: PinKind, pin: Pin): Reference {
  const { prepared, episode } = located;
  const problem = recordProblem(prepared, kind, pin);
  if (problem !== null) throw refused(episode, t, kind, pin, problem);
  const { source, position } = pin;
  if (position === null) return { source, position, student_position: null, relation: "unaligned" };
  const key = matchingKey(stateAt(prepared.source(source)!, position));
  const node = key === null ? undefined : prepared.graph.index.get(key);
  const u = node === undefined ? -1 : located.states.lastIndexOf(prepared.state(node), t);
  if (u < 0) {
    const why =
      key === null
        ? "its state was not reliably captured, so nothing matches it"
        : `it shares no state with the student up to decision ${t}`;
    throw refused(episode, t, kind, pin, why);
  }
  return { source, position, student_position: u, relation: u === t ? "current" : "historical" };
}

/** Why the record or the visit cannot be chosen, whatever the student did; null when it can. */
function recordProblem(prepared: PreparedTask, kind: PinKind, { source: id, position }: Pin): string | null {
  const source = prepared.source(id);
  if (source === undefined) {
    const left = prepared.leftOut.find((each) => each.source === id);
    return left === undefined ? "no record with that name takes part" : sourceExclusion(left, prepared.rules);
  }
  const { length } = source.decisions;
  if (position !== null && !(Number.isInteger(position) && position >= 0 && position <= length)) {
    return `its visits go from 0 to ${length}`;
  }
  const reasons = kind === "failure" ? failureProblems(source) : successProblems(prepared, source, position);
  return reasons.length === 0 ? null : reasons.join("; ");
}

/** b⁺ of Eq. (4); of a whole record, what FallbackSuccess asks. */
function successProblems(prepared: PreparedTask, source: Source, position: number | null): string[] {
  if (position === null && !prepared.rules.testsUnalignedEntry && isTrustedSuccess(source)) return [];
  return prepared.reasons(source, position ?? 0).map((reason) => REASON_TEXT[reason]);
}

/** What FailedRef asks of a record. */
function failureProblems(source: Source): string[] {
  if (isTrustedFailure(source)) return [];
  const { complete, verified, success } = source.outcome;
  const problems: string[] = [];
  if (!complete) problems.push(REASON_TEXT.incomplete_record);
  if (!verified) problems.push(REASON_TEXT.unverified_record);
  if (success) problems.push("the source succeeded");
  else if (problems.length === 0) problems.push("it claims a success that replay did not confirm");
  return problems;
}

function refused(episode: Episode, t: number, kind: PinKind, pin: Pin, why: string): InputError {
  return new InputError(
    `${pinName(pin)} cannot be the ${kind === "success" ? "successful" : "failed"} reference of decision ${t} ` +
      `of episode ${episode.episode}: ${why}`,
  );
}
