/** The wording of single facts in rendered evidence. */
import type { Episode, Source, Status } from "../record/schema.ts";
import {
  brokeOff,
  hasUnknownOutcome,
  isRefutedSuccess,
  isTrusted,
  isTrustedFailure,
  isTrustedSuccess,
  reportsSuccess,
} from "../record/standing.ts";

/** What a reader calls the event at a position: the released evidence counts events from 1. */
export function eventNumber(position: number | null): number {
  return (position ?? 0) + 1;
}

/** An action as recorded; a menu choice with what it stood for; a missing one said to be missing. */
export function actionText(action: string | null, binding: string | null): string {
  const shown =
    action === null ? "none (the response held no executable action)" : action === "" ? "(blank)" : action;
  return binding === null ? shown : `${shown} (stood for: ${binding})`;
}

/** Null where the decision was carried out as recorded. */
export function statusText(status: Status): string | null {
  switch (status) {
    case "executed":
    case "binding":
      return null;
    case "rejected":
      return "rejected by the environment, not executed";
    case "malformed":
      return "malformed response, nothing executed";
    case "rolled_back":
      return "rolled back";
  }
}

/** The outcome that a source record stands for, as far as it can be taken at its word. */
export function roleText(kind: "success" | "failure", source: Source): string {
  if (kind === "success") {
    if (isTrustedSuccess(source)) return "successful record";
    return source.outcome.success || reportsSuccess(source)
      ? "record of a claimed success, not confirmed"
      : "record without a success, in the place of a successful one";
  }
  if (hasUnknownOutcome(source) && !source.outcome.success) return "record of an unknown outcome";
  if (isTrustedFailure(source)) return "failed record";
  return source.outcome.success || reportsSuccess(source)
    ? "record of a claimed success, in the place of a failed one"
    : "record without a reported success, not confirmed as failed";
}

/** What replay says of a source record. */
export function verificationText(source: Source): string {
  const { complete, verified } = source.outcome;
  if (isRefutedSuccess(source)) return "complete; replay did NOT confirm its claimed success";
  if (!verified) return `${complete ? "complete" : "INCOMPLETE"}, UNVERIFIED by replay`;
  return complete
    ? "complete and verified by replay"
    : "INCOMPLETE; the decisions that it has are verified by replay";
}

/** What a record is called that is retained without a trusted one of its outcome. */
export function rawText(source: Source): string {
  const { complete, verified } = source.outcome;
  if (isRefutedSuccess(source)) return "raw record of an UNCONFIRMED success";
  if (!verified) return "UNVERIFIED raw record";
  return complete ? "raw record" : "raw INCOMPLETE record";
}

/** Success or failure as far as it is known, score, and how the execution ended. */
export function outcomeText(execution: Episode | Source): string {
  const { outcome, decisions } = execution;
  const count = `${decisions.length} decision${decisions.length === 1 ? "" : "s"}`;
  const ended = {
    environment: `ended by the environment after ${count}`,
    horizon: `stopped at the decision limit after ${count}`,
    technical: brokeOff(execution)
      ? `stopped for a technical reason after ${count}`
      : `${count}, and how it ended is not recorded`,
  }[outcome.ended];
  const score = outcome.score === null ? [] : [`score ${outcome.score}`];
  return [successText(execution), ...score, ended].join("; ");
}

function successText(execution: Episode | Source): string {
  const { success, complete } = execution.outcome;
  if (execution.format === "gcopd.episode.v1") {
    if (!success && hasUnknownOutcome(execution)) return "unknown, nobody recorded it";
    // An execution that broke off was never judged.
    if (!success && brokeOff(execution)) return "neither success nor failure, it broke off";
    return `${success ? "success" : "failure"}${complete ? "" : " as far as recorded, the record is incomplete"}`;
  }
  const trusted = isTrusted(execution);
  const reported = reportsSuccess(execution);
  if (success && !reported) {
    return trusted
      ? "success in replay, which the original file does not report"
      : "success as recorded, which the original file does not report, not confirmed";
  }
  if (success) return trusted ? "success" : "success as recorded, not confirmed";
  if (hasUnknownOutcome(execution)) return "unknown, nobody recorded it";
  if (reported) return `reported as a success, ${trusted ? "NOT confirmed by replay" : "not confirmed"}`;
  return trusted ? "failure" : "no success reported, not confirmed";
}

/** The terminal-failure note: what the episode's last decision led to, and how far that statement goes. */
export function terminalFailureText({ decisions, outcome }: Episode): string {
  const last = decisions.length - 1;
  const { action = null, binding = null } = decisions[last] ?? {};
  return [
    "NOTE ON THE SCORED DECISION: it ended this episode.",
    `Recorded action of student event ${eventNumber(last)}: ${actionText(action, binding)}`,
    `On this action the environment itself ended the episode as a failure with score ${outcome.score}. ` +
      "No decision limit and no technical fault stopped it, and no decision followed.",
    "This is what the action led to here. It says nothing of the same action in another state, nor of the decisions before it.",
  ].join("\n");
}
