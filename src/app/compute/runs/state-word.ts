/** How a run's state is called. */
import type { Run } from "./run.ts";

/** What the loop of a run said last. */
export const lastSaid = ({ events }: Run): Run["events"][number]["type"] | undefined =>
  events.findLast(({ type }) => type !== "checkpoint")?.type;

/** A run's state in a word: one that ended after its step was stopped, and not cancelled. */
export function stateWord(run: Run): string {
  if (run.state === "cancelled" && lastSaid(run) === "stopped") return "stopped";
  return run.state === "cancelling" ? "ending" : run.state;
}
