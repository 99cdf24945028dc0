/**
 * Leave-one-out: the graph-conditioned teacher on the same response ids, with one part of the evidence left out at a
 * time. Each pass is kept as it ends, so that a cancelled run keeps what it has.
 */

import { InputError } from "../../../../core/errors.ts";
import type { EvidencePart } from "../../../../core/evidence/index.ts";
import { isSameEngine } from "../../../compute/scoring/score.ts";
import { scoreKey, scoringRuns } from "../../../compute/scoring/scoring-run.ts";
import { teacherOf, withoutEvidence } from "../../../compute/side.ts";
import { changeScores, getUi, type TokenScores } from "../../../compute/store.ts";
import { libraryWorker } from "../../../data/library-client.ts";
import type { DecisionModel, LeftOutContext } from "../../../data/model.ts";
import { partName, samePart } from "../../../url/part-name.ts";

/** The records whose events the evidence prints, in its order. */
export function recordsWithEvents({ evidence }: Pick<DecisionModel, "evidence">): EvidencePart["record"][] {
  return [...new Set(evidence.spans.filter(({ part }) => part === "event").map(({ kind }) => kind))];
}

/**
 * Leaves out each record in turn, each event of one record, or each event of all; of these, with `only`, one part. Parts
 * that are scored are not scored again.
 */
export async function scoreLeftOut(
  of: EvidencePart["record"] | "all events" | null,
  only: EvidencePart | null = null,
): Promise<void> {
  const { decision } = getUi();
  if (decision === null) return;
  const scores = getUi().scores[scoreKey(decision)];
  if (scores === undefined) return;
  await scoringRuns.run("left-out", scoreKey(decision), async ({ key, open, wait, score }) => {
    await open("teacher");
    checkSameTeacher(scores);
    const { episode, decision: at, selection, endOfTurn } = decision;
    const records = of === "all events" ? recordsWithEvents(decision) : [of];
    const contexts: LeftOutContext[] = [];
    for (const record of records)
      contexts.push(
        ...(await wait(
          libraryWorker().tasks.leftOut(decision, episode, at, selection, record, { endOfTurn }),
        )),
      );
    const wanted = contexts.filter(
      ({ part }) =>
        (only === null || samePart(part, only)) &&
        !scores.leftOut.some((known) => samePart(known.part, part)),
    );
    if (only !== null && !contexts.some(({ part }) => samePart(part, only)))
      throw new InputError(`this evidence does not have ${partName(only)}`);
    const add = (
      { part, promptIds, evidenceTokens, backReferences }: LeftOutContext,
      logprobs: ArrayLike<number>,
      seconds: number | null,
    ): void => {
      const of = { part, logprobs, context: promptIds.length, evidenceTokens, backReferences, seconds };
      changeScores(key, ({ leftOut }) => ({ leftOut: [...leftOut, of] }));
    };
    // Without any evidence left, the pass is that of the vanilla teacher, which was made.
    for (const context of wanted) if (context.vanilla) add(context, withoutEvidence(scores).logprobs, null);
    const passes = wanted.filter(({ vanilla }) => !vanilla);
    await score(
      passes.map(({ part, promptIds }, i) => ({
        model: "teacher",
        label: `Pass ${i + 1} of ${passes.length}: without ${partName(part)}`,
        promptIds,
        responseIds: scores.ids,
      })),
      (i, { logprobs }, seconds) => add(passes[i]!, logprobs, seconds),
    );
  });
}

/** A change is of the evidence only when everything else is as it was. */
export function checkSameTeacher(scores: TokenScores): void {
  const teacher = teacherOf(scores);
  const info = getUi().models.teacher?.info;
  if (info !== undefined && isSameEngine(teacher, info)) return;
  throw new InputError(
    `these scores are of ${teacher.model} (${teacher.dtype}, ${teacher.adapter}), and now ` +
      `${info?.model} (${info?.dtype}, ${info?.adapter}) is open: score the decision again first`,
  );
}

/** Leaves out the part that the address points at, alone. */
export function scorePointed(): Promise<void> {
  const { part } = getUi().place;
  if (part === null) return Promise.resolve();
  return scoreLeftOut(part.event === null ? null : part.record, part);
}
