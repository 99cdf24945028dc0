/**
 * Render (Eq. (7), Appendix "Rendered evidence"): the student's complete execution with the scored decision marked,
 * then the retained successful and the retained failed record, each complete. Observations, actions, feedback, status
 * and outcome are all there; locators (which no agent sees) and historical thoughts never are.
 */

import { InputError } from "../errors.ts";
import {
  type Attempt,
  attemptsAfterLast,
  type Episode,
  type Reference,
  type Source,
} from "../record/schema.ts";
import { isTerminalFailure } from "../retrieval/terminal-failure.ts";
import { type BackReferences, backReferences } from "./back-references.ts";
import {
  actionText,
  eventNumber,
  outcomeText,
  rawText,
  roleText,
  statusText,
  terminalFailureText,
  verificationText,
} from "./phrases.ts";
import type { Evidence, EvidenceInput, EvidenceSpan } from "./types.ts";
import { EvidenceWriter } from "./writer.ts";

export interface RenderOptions {
  /** Print exactly repeated observations and feedback once and refer to them afterwards (see `fitEvidence`). */
  backReferences?: boolean;
}

export const STUDENT_HEADING = "STUDENT'S COMPLETE ACTUAL ACTION/OBSERVATION EXECUTION";
export const SOURCE_HEADING = "COMPLETE SOURCE ACTION/OBSERVATION EXECUTION";
export const CURRENT_MARK = "[CURRENT SCORED DECISION]";
export const MATCHED_MARK = "[MATCHED STATE]";

/** What is left out of an event, and how a reader gets it back: an observation that repeats the line before it. */
const READING_RULE =
  "Events count from 1. The observation before an event is the feedback printed just before it, " +
  "unless the event prints its own.";

/**
 * R_t as the teacher reads it, with the place of each part. Every observation is in it: printed where it differs from
 * the feedback (or initial observation) before it, which the heading says.
 *
 * Throws `InputError` when a record that retrieval retained is missing or is not the one given, when one is given that
 * retrieval did not retain, or when the episode has no such decision.
 */
export function renderEvidence(input: EvidenceInput, options: RenderOptions = {}): Evidence {
  check(input);
  if (input.text !== undefined) return { text: input.text, spans: [], backReferences: false };
  const plain = write(input, null);
  if (options.backReferences !== true) return { text: plain.text, spans: plain.spans, backReferences: false };
  const { text, spans } = write(input, backReferences(plain.recorded, plain.text));
  return { text, spans, backReferences: true };
}

function check({ episode, decision, retrieval, success, failure }: EvidenceInput): void {
  const of = `decision ${decision} of episode ${episode.episode}`;
  if (!Number.isInteger(decision) || decision < 0 || decision >= episode.decisions.length) {
    throw new InputError(`there is no ${of}: the episode has ${episode.decisions.length} decisions`);
  }
  if (retrieval.decision !== decision || retrieval.episode !== episode.episode) {
    throw new InputError(
      `the retrieval record is of decision ${retrieval.decision} of episode ${retrieval.episode}, expected ${of}`,
    );
  }
  if (retrieval.terminal_failure_note === true && !isTerminalFailure(episode, decision)) {
    throw new InputError(
      `the retrieval record asks for the terminal-failure note, and ${of} is not one that ended its episode by ` +
        "itself with a negative score",
    );
  }
  for (const [kind, reference, source] of [
    ["successful", retrieval.success, success],
    ["failed", retrieval.failure, failure],
  ] as const) {
    const expected = reference?.source ?? null;
    const given = source?.source ?? null;
    if (expected !== given || (source !== null && source.task !== episode.task)) {
      throw new InputError(
        `${of} retains ${expected ?? "no record"} as its ${kind} record, got ${given ?? "none"}`,
      );
    }
    const last = source?.decisions.length ?? 0;
    if (reference !== null && reference.position !== null && reference.position > last) {
      throw new InputError(
        `${of} is anchored at position ${reference.position} of ${given}, which ends at ${last}`,
      );
    }
  }
}

function write(input: EvidenceInput, references: BackReferences | null) {
  const { episode, decision, retrieval, success, failure, leftOut = [] } = input;
  const writer = new EvidenceWriter(references);
  const skipped = (kind: EvidenceSpan["kind"]): Skipped =>
    new Set(leftOut.flatMap(({ record, event }) => (record === kind && event !== null ? [event] : [])));
  const student = !leftOut.some(({ record, event }) => record === "student" && event === null);
  const tagged = input.control === "hindsight-only";
  if (retrieval.terminal_failure_note === true) {
    writer.begin({ kind: "student", part: "note", source: null, position: decision });
    writer.line(terminalFailureText(episode));
    writer.end();
  }
  // Only the note is left: there is nothing to say how to read.
  if (!student && (tagged || (success === null && failure === null))) return writer.finish();
  if (tagged) writer.line("<student_hindsight>");
  writer.begin({ kind: "student", part: "heading", source: null, position: null });
  if (student) writer.line(STUDENT_HEADING);
  writer.line(READING_RULE);
  if (references !== null) {
    const name = `[${references.prefix}k]`;
    writer.line(`${name} before a text names that text; ${name} alone stands for it.`);
  }
  if (student) {
    writeEvents(writer, episode, {
      kind: "student",
      source: null,
      name: "Student",
      marked: decision,
      mark: CURRENT_MARK,
      attempts: () => [],
      skipped: skipped("student"),
    });
  }
  if (!tagged) {
    const place = (kind: "success" | "failure") => ({ kind, decision, skipped: skipped(kind) });
    if (success !== null) writeSource(writer, success, retrieval.success!, place("success"));
    if (failure !== null) writeSource(writer, failure, retrieval.failure!, place("failure"));
  }
  writer.end();
  if (tagged) writer.line("</student_hindsight>");
  return writer.finish();
}

function writeSource(
  writer: EvidenceWriter,
  source: Source,
  reference: Reference,
  { kind, decision, skipped }: { kind: "success" | "failure"; decision: number; skipped: Skipped },
): void {
  writer.begin({ kind, part: "heading", source: source.source, position: null });
  writer.line(`${SOURCE_HEADING}: ${source.source}`);
  writer.line(`Role: ${roleText(kind, source)}`);
  writer.line(`Origin: ${source.origin.kind}`);
  writer.line(`Verification: ${verificationText(source)}`);
  writer.line(`Anchor: ${anchorText(source, reference, decision)}`);
  writeEvents(writer, source, {
    kind,
    source: source.source,
    name: "Source",
    marked: reference.position,
    mark: MATCHED_MARK,
    attempts: (position) => source.decisions[position]?.attempts ?? attemptsAfterLast(source),
    skipped,
  });
}

/** The association label of a retained record. */
function anchorText(
  source: Source,
  { relation, position, student_position: u }: Reference,
  decision: number,
): string {
  switch (relation) {
    case "current":
      return `current; source event ${eventNumber(position)} shares the state of student event ${eventNumber(u)}, the scored decision`;
    case "historical":
      return (
        `historical; source event ${eventNumber(position)} shares the state of student event ${eventNumber(u)}, ` +
        `earlier than the scored decision, student event ${eventNumber(decision)}`
      );
    case "unaligned":
      return "unaligned; no source event is matched to a student event";
    case "unverified":
      return `${rawText(source)}, unaligned; no source event is matched to a student event`;
  }
}

interface EventContext {
  kind: EvidenceSpan["kind"];
  source: string | null;
  name: "Student" | "Source";
  /** Position of the marked event; its length marks the end of the execution, null marks none. */
  marked: number | null;
  mark: string;
  /** Noncommitted attempts before the decision at a position; at the end, those after the last decision. */
  attempts: (position: number) => readonly Attempt[];
  skipped: Skipped;
}

/** Positions of the events that are left out. */
type Skipped = ReadonlySet<number>;

/** The initial observation, every event in order, and the final outcome. */
function writeEvents(writer: EvidenceWriter, execution: Episode | Source, place: EventContext): void {
  const { kind, source, name, marked, mark, skipped } = place;
  const begin = (position: number) => {
    writer.begin({ kind, part: "event", source, position });
    writer.line(`${name} event ${eventNumber(position)}${position === marked ? ` ${mark}` : ""}`);
  };
  const attempts = (position: number) => {
    for (const { action, reason, feedback } of place.attempts(position)) {
      const why = reason === "format" ? "unreadable" : "rejected";
      writer.line(`Noncommitted attempt (${why}, not part of the execution): ${actionText(action, null)}`);
      writer.recorded("Attempt feedback", feedback);
    }
  };
  writer.recorded("Initial observation", execution.initial_observation);
  let before = execution.initial_observation;
  execution.decisions.forEach((event, position) => {
    if (skipped.has(position)) {
      // The next event prints what it would have printed after this one: what is left out does not come back there.
      before = event.feedback;
      return;
    }
    begin(position);
    if (event.gap_before) writer.line("Recording gap: not continuous from the previous event");
    if (event.observation !== before) writer.recorded("Observation", event.observation);
    attempts(position);
    writer.line(`Recorded action: ${actionText(event.action, event.binding)}`);
    const status = statusText(event.status);
    if (status !== null) writer.line(`Status: ${status}`);
    writer.recorded("Actual feedback", event.feedback);
    before = event.feedback;
  });
  const end = execution.decisions.length;
  if (!skipped.has(end) && (marked === end || place.attempts(end).length > 0)) {
    begin(end);
    attempts(end);
    writer.line("Recorded action: none (the execution ends in this state)");
  }
  writer.begin({ kind, part: "outcome", source, position: null });
  writer.line(`Final outcome: ${outcomeText(execution)}`);
}
