/** The wording of single facts in rendered evidence. */
import type { Episode, Source, Status } from "../record/schema.ts";
import { isTrusted, reportsSuccess } from "../record/standing.ts";

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

/** How far a source record can be trusted. */
export function verificationText(source: Source): string {
  if (isTrusted(source)) return "complete and verified by replay";
  const { complete, verified } = source.outcome;
  return [
    complete ? "complete" : "INCOMPLETE",
    verified ? "verified by replay" : "UNVERIFIED by replay",
  ].join(", ");
}

/** Success or failure as far as it is known, score, and how the execution ended. */
export function outcomeText(execution: Episode | Source): string {
  const { outcome, decisions } = execution;
  const count = `${decisions.length} decision${decisions.length === 1 ? "" : "s"}`;
  const ended = {
    environment: `ended by the environment after ${count}`,
    horizon: `stopped at the decision limit after ${count}`,
    technical: `stopped for a technical reason after ${count}`,
  }[outcome.ended];
  const score = outcome.score === null ? [] : [`score ${outcome.score}`];
  return [successText(execution), ...score, ended].join("; ");
}

function successText(execution: Episode | Source): string {
  const { success, complete, verified } = execution.outcome;
  if (execution.format === "gcopd.episode.v1") {
    return `${success ? "success" : "failure"}${complete ? "" : " as far as recorded, the record is incomplete"}`;
  }
  if (success) return isTrusted(execution) ? "success" : "success as recorded, not confirmed";
  if (reportsSuccess(execution)) return "reported as a success, not confirmed";
  return complete && verified ? "failure" : "no success reported, not confirmed";
}

/** The terminal-failure note: what the episode's last decision led to, and how far that statement goes. */
export function terminalFailureText({ decisions, outcome }: Episode): string {
  const last = decisions.length - 1;
  const { action = null, binding = null } = decisions[last] ?? {};
  return [
    "NOTE ON THE SCORED DECISION: it ended this episode.",
    `Recorded action of student event [${last}]: ${actionText(action, binding)}`,
    `On this action the environment itself ended the episode as a failure with score ${outcome.score}. ` +
      "No decision limit and no technical fault stopped it, and no decision followed.",
    "This is what the action led to here. It says nothing of the same action in another state, nor of the decisions before it.",
  ].join("\n");
}
