/** How an episode ended, in one line. */
import type { LiveEpisode } from "../../../core/loop/index.ts";
import { countOf } from "../../../core/plural.ts";
import { shownName } from "../../base/text/shown-text.ts";
import type { PlayedFrom } from "../../compute/games/play.ts";

type Ended = Pick<LiveEpisode, "task" | "turn" | "decisions" | "ended">;

/** "Won after 5 decisions."; null while the episode goes on. */
export function ending({ task, turn, decisions, ended }: Ended): string | null {
  if (ended === null) return null;
  const count = countOf(decisions.length, "decision");
  if (turn.success) return `Won after ${count}.`;
  if (ended.ended === "horizon")
    return `Not won: the limit of ${countOf(task.maxDecisions, "decision")} is reached.`;
  if (ended.ended === "technical") return `Ended for a technical reason: ${ended.reason ?? "unknown"}`;
  // ALFWorld's score says no more than that it was not won.
  const scored = task.environment !== "alfworld" && turn.score !== null;
  return `Lost after ${count}${scored ? `, with a score of ${turn.score}` : ""}.`;
}

/** How the record ended that was played on from; beside the ending. */
export function recordsEnding({ id, position, record }: PlayedFrom): string {
  const { outcome, decisions } = record;
  const how = outcome.success ? "succeeded" : outcome.complete ? "did not succeed" : "is incomplete";
  return `${shownName(id, 80)}, which it left at decision ${position}, ${how} after ${countOf(decisions.length, "decision")}.`;
}
