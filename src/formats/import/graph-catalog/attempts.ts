/** Noncommitted tries of a source, placed before the committed decision that they led to. */

import type { Attempt } from "../../../core/record/schema.ts";
import { isSet } from "../decision-fields.ts";
import type { Branch, Original, Trajectory } from "./schema.ts";

/** Tries by decision: `before[j]` ahead of decision j, `after` those that led to none. */
export interface PlacedAttempts {
  before: Attempt[][];
  after: Attempt[];
}

function place(count: number, attempts: Iterable<{ at: number; attempt: Attempt }>): PlacedAttempts {
  const placed: PlacedAttempts = { before: Array.from({ length: count }, () => []), after: [] };
  for (const { at, attempt } of attempts) (placed.before[at] ?? placed.after).push(attempt);
  return placed;
}

/** The command in a reply's action tag, lower case; null without one. */
function taggedAction(reply: string): string | null {
  const match = /<action>([\s\S]*?)<\/action>/i.exec(reply);
  return match === null ? null : match[1]!.trim().toLowerCase();
}

/** From the recorder's own file, which counts steps from 1. Accepted tries are the decisions themselves. */
export function attemptsOfOriginal(original: Original, decisions: number): PlacedAttempts {
  const found: { at: number; attempt: Attempt }[] = [];
  for (const entry of original.attempts ?? []) {
    const at = entry.step - 1;
    if (entry.type === "format_invalid") {
      found.push({ at, attempt: { action: null, reason: "format", feedback: entry.reason ?? "" } });
    } else if (entry.type === "environment_rejection") {
      const action =
        typeof entry.raw_output === "string"
          ? taggedAction(entry.raw_output)
          : (entry.action?.toLowerCase() ?? null);
      found.push({ at, attempt: { action, reason: "rejected", feedback: entry.feedback ?? "" } });
    }
  }
  return place(decisions, found);
}

/** From the graph's branches: each belongs before the first step of its repetition that was taken later. */
export function attemptsOfBranches(
  branches: readonly Branch[],
  trajectory: Trajectory,
  decisions: number,
): PlacedAttempts {
  const indices = trajectory.steps.map((step) => step.decision_index ?? Number.NEGATIVE_INFINITY);
  const found: { at: number; attempt: Attempt }[] = [];
  for (const branch of branches) {
    if (branch.rep !== trajectory.rep) continue;
    const next = indices.findIndex((index) => index > branch.decision_index);
    const format = isSet(branch.format_error) || branch.kind === "format_invalid";
    const feedback =
      format && isSet(branch.format_error) ? String(branch.format_error) : (branch.feedback ?? "");
    found.push({
      // Those after the graph's last step stand before the decision that follows it, if the original has one.
      at: next === -1 ? indices.length : next,
      attempt: { action: format ? null : branch.action, reason: format ? "format" : "rejected", feedback },
    });
  }
  return place(decisions, found);
}
