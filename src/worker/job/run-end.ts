/** How a run ended: whether its job is to blame, and in words. */
import { SIGNAL_EXIT_CODES } from "../../protocol/job-state.ts";
import { isKill, type ProcessEnd } from "./launcher.ts";

/**
 * Ended by something that says nothing about the job itself: a shutdown, a terminal's end, a power cut, a kill. What the
 * worker saw and what it finds when it starts again count alike.
 */
export function isInterruption(end: ProcessEnd): boolean {
  if (isKill(end)) return true;
  if (end.kind === "signal") return ["SIGINT", "SIGTERM", "SIGHUP"].includes(end.signal);
  return end.kind === "exit" && SIGNAL_EXIT_CODES.includes(end.code);
}

/** Why a run that was interrupted is gone, for its job's message. */
export function interruption(end: ProcessEnd): string {
  if (end.memory)
    return `the system ended it for want of memory (${describeEnd(end)}): resume it with a lower memory limit`;
  if (end.kind === "unknown") return "it is gone and left no exit code (killed, or the machine went down)";
  const how = isKill(end) ? "killed, perhaps for memory" : "interrupted from outside";
  return `it was ${how} (${describeEnd(end)})`;
}

/** What a process left: its exit code, the signal that ended it, or neither. */
export function describeEnd(end: ProcessEnd): string {
  if (end.kind === "exit") return `exit code ${end.code}`;
  return end.kind === "signal" ? `ended by ${end.signal}` : "no exit code";
}
