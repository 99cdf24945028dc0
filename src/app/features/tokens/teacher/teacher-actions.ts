/** What the teacher would do instead: its most probable response and a few drawn ones, without and with the evidence. */
import { environmentRules } from "../../../../core/environment/index.ts";
import { remaining } from "../../../base/eta.ts";
import { models } from "../../../compute/models/models.ts";
import { scoreKey, scoringRuns } from "../../../compute/scoring/scoring-run.ts";
import { sideOf } from "../../../compute/side.ts";
import { changeScores, getUi, type TeacherAction } from "../../../compute/store.ts";
import { checkSameTeacher } from "../attribution/leave-out.ts";

/** Responses that are drawn at temperature 1 under each context, beside the greedy one. */
export const DRAWN = 3;

const CONTEXTS = ["vanilla", "graph"] as const;

/** Asks the teacher for its own responses to the shown decision, which must be scored; each is kept as it ends. */
export async function askTeacher(): Promise<void> {
  const { decision } = getUi();
  const scores = decision === null ? undefined : getUi().scores[scoreKey(decision)];
  if (decision === null || scores === undefined) return;
  await scoringRuns.run("actions", scoreKey(decision), async ({ key, open, wait, checkStop, show }) => {
    await open("teacher");
    checkSameTeacher(scores);
    const { api } = await wait(models.worker());
    const { environment, episode, decision: at, observation } = decision;
    const { limits, parseResponse } = environmentRules(environment);
    const asked = CONTEXTS.flatMap((context) =>
      Array.from({ length: 1 + DRAWN }, (_, i) => ({ context, seed: i === 0 ? null : i })),
    );
    const actions: TeacherAction[] = [];
    const began = performance.now();
    for (const [i, { context, seed }] of asked.entries()) {
      const eta = remaining(
        asked.map(() => 1),
        i,
        (performance.now() - began) / 1000,
      );
      const evidence = context === "graph" ? "with evidence" : "without evidence";
      show(`The teacher writes, ${evidence}`, i, asked.length, eta, "responses");
      const { promptIds } = sideOf(scores, context)!;
      checkStop();
      const written = await wait(
        api.respond("teacher", {
          task: {
            episode,
            environment,
            maxTokens: limits.responseTokens,
            sampling: { temperature: seed === null ? 0 : 1, topP: 1, topK: null },
          },
          // The ids are those that were scored: nothing is read from the text.
          prompt: { message: "", earlier: [] },
          evidenceIds: promptIds,
          decision: at,
          seed: seed ?? 0,
        }),
      );
      const response = written.response ?? "";
      actions.push({ context, seed, response, action: parseResponse(response, observation).action });
      changeScores(key, () => ({ teacherActions: [...actions] }));
    }
  });
}
