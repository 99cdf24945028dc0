/** What names a scored decision: its library, task, episode and place there, and the evidence that was asked for. */
import type { Selection } from "../../core/retrieval/selection.ts";
import { shownName } from "../base/text/shown-text.ts";
import type { DecisionModel } from "./model.ts";

type Scored = Pick<
  DecisionModel,
  "library" | "environment" | "task" | "episode" | "decision" | "selection" | "endOfTurn"
>;

/** One name for a decision of an open library, the evidence that was asked for, and how its response is read. */
export function scoreKey({
  library,
  environment,
  task,
  episode,
  decision,
  selection,
  endOfTurn,
}: Scored): string {
  return JSON.stringify([library, environment, task, episode, decision, selection, endOfTurn]);
}

/** What a key of `scoreKey` names. */
export function ofScoreKey(key: string): Omit<Scored, "selection"> & { selection: Selection } {
  const [library, environment, task, episode, decision, selection, endOfTurn] = JSON.parse(key) as [
    string,
    string,
    string,
    string,
    number,
    Selection,
    boolean,
  ];
  return { library, environment, task, episode, decision, selection, endOfTurn };
}

/** "decision 2 of melt|12|easy#0" for a key of `scoreKey`; null for the key of other work. */
export function scoredName(key: string): string | null {
  if (!key.startsWith("[")) return null;
  const { episode, decision } = ofScoreKey(key);
  return `decision ${decision} of ${shownName(episode, 80)}`;
}
