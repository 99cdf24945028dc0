/** Whether other references say the same: the best eligible ones in turn, each as the successful record of the evidence. */
import { InputError } from "../../../../core/errors.ts";
import { scoreKey, scoringRuns } from "../../../compute/scoring/scoring-run.ts";
import { changeScores, getUi, type ReferenceScores } from "../../../compute/store.ts";
import { libraryWorker } from "../../../data/library-client.ts";
import type { DecisionModel } from "../../../data/model.ts";
import { checkSameTeacher } from "../attribution/leave-out.ts";

/** References that are scored. */
export const MOST_REFERENCES = 5;

/** The best eligible visits in the order of their rank, one of each execution. */
export function bestReferences({
  retrieval,
  selection,
}: Pick<DecisionModel, "retrieval" | "selection">): Omit<ReferenceScores, "logprobs">[] {
  // Hindsight alone shows no reference, whichever is retained.
  if (selection.control === "hindsight-only") return [];
  const best = new Map<string, Omit<ReferenceScores, "logprobs">>();
  const ranked = retrieval.explanation.matched
    .filter(({ rank }) => rank !== null)
    .sort((a, b) => a.rank! - b.rank!);
  for (const { source, position, rank } of ranked)
    if (!best.has(source)) best.set(source, { source, position, rank: rank! });
  return [...best.values()].slice(0, MOST_REFERENCES);
}

/** Scores the shown decision's response with each of its best references as evidence; each is kept as it ends. */
export async function scoreReferences(): Promise<void> {
  const { decision } = getUi();
  const scores = decision === null ? undefined : getUi().scores[scoreKey(decision)];
  if (decision === null || scores === undefined) return;
  await scoringRuns.run("references", scoreKey(decision), async ({ key, open, wait, score }) => {
    const references = bestReferences(decision);
    if (references.length === 0) throw new InputError("no execution has an eligible visit to this state");
    await open("teacher");
    checkSameTeacher(scores);
    const { episode, decision: at, endOfTurn } = decision;
    // What was edited by hand is of the reference that it was edited for.
    const { text: _, leaveOut: __, ...selection } = decision.selection;
    const contexts: number[][] = [];
    for (const { source, position } of references) {
      const asked = { ...selection, pin: { source, position } };
      contexts.push(
        (await wait(libraryWorker().tasks.pair(decision, episode, at, asked, { endOfTurn }))).graphIds,
      );
    }
    const known: ReferenceScores[] = [];
    await score(
      references.map(({ source }, i) => ({
        model: "teacher",
        label: `Reference ${i + 1} of ${references.length}: ${source.slice(0, 80)}`,
        promptIds: contexts[i]!,
        responseIds: scores.ids,
      })),
      (i, { logprobs }) => {
        known.push({ ...references[i]!, logprobs });
        changeScores(key, () => ({ references: [...known] }));
      },
    );
  });
}
