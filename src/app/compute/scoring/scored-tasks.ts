/** Mean Δ of each task with decisions scored here: what the evidence moved, on the student's own tokens. */
import { taskKey } from "../../../core/record/library.ts";
import type { Selection } from "../../../core/retrieval/selection.ts";
import type { TaskDelta } from "../../data/library/sort-tasks.ts";
import { ofScoreKey } from "../../data/score-key.ts";
import { evidenceDeltas } from "../side.ts";
import type { TokenScores } from "../store.ts";

/**
 * By `taskKey`, of the library with that id. Only decisions that were scored under `selection`, and whose text
 * responses were read with or without the end-of-turn token as asked, count: others had other evidence or other tokens. `scores` are by `scoreKey`.
 */
export function scoredTasks(
  scores: Readonly<Record<string, Pick<TokenScores, "sides">>>,
  { selection, endOfTurn }: { selection: Selection; endOfTurn: boolean },
  library: string | null,
): Map<string, TaskDelta> {
  const wanted = JSON.stringify(selection);
  const found = new Map<string, TaskDelta>();
  for (const [key, scored] of Object.entries(scores)) {
    const { library: of, environment, task, selection: under, endOfTurn: read } = ofScoreKey(key);
    if (of !== library || read !== endOfTurn || JSON.stringify(under) !== wanted) continue;
    const deltas = evidenceDeltas(scored);
    const sum = deltas.reduce((total, delta) => total + delta, 0);
    const name = taskKey(environment, task);
    const before = found.get(name) ?? { decisions: 0, tokens: 0, mean: 0 };
    const tokens = before.tokens + deltas.length;
    const mean = tokens === 0 ? 0 : (before.mean * before.tokens + sum) / tokens;
    found.set(name, { decisions: before.decisions + 1, tokens, mean });
  }
  return found;
}
