/** The distributions of sides that were scored without them, on request. */

import { distributionOf, wantedOf } from "../../compute/scoring/known-distribution.ts";
import { scoreKey, scoringRuns } from "../../compute/scoring/scoring-run.ts";
import { keepSide, keepUnion, openModelOf } from "../../compute/scoring/sides.ts";
import type { Side } from "../../compute/side.ts";
import { getUi } from "../../compute/store.ts";

/** A side whose model can be asked again. */
export function canTell(side: Side): boolean {
  return side.promptIds !== null && side.ids !== null && side.model !== null;
}

/** Computes the distributions of the given sides of the shown decision that have none yet, a pass each. */
export async function scoreDistributions(sides: readonly Side[]): Promise<void> {
  const { decision } = getUi();
  if (decision === null) return;
  await scoringRuns.run("distribution", scoreKey(decision), async (run) => {
    for (const side of sides) {
      const { label, model, promptIds, ids: responseIds, distribution } = side;
      if (distribution !== null || model === null || promptIds === null || responseIds === null) continue;
      const wanted = wantedOf(await openModelOf(run, { ...side, model }), responseIds.length);
      const pass = { model, label: `Most probable tokens: ${label}`, promptIds, responseIds, wanted };
      await run.score([pass], async (_, result) => {
        keepSide(run.key, { ...side, distribution: await run.wait(distributionOf(result, model)) });
      });
    }
    await keepUnion(run);
  });
}
