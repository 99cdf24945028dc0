/** The distributions of sides that were scored without them, on request. */

import { otherFolder } from "../../compute/models/other-model.ts";
import { distributionOf, wantedOf } from "../../compute/scoring/known-distribution.ts";
import { type PassResult, runScoring, scoreKey } from "../../compute/scoring/scoring-run.ts";
import { keepSide } from "../../compute/scoring/sides.ts";
import type { Side } from "../../compute/side.ts";
import { getUi } from "../../compute/store.ts";
import { tokenizerTexts } from "../../data/files/model-folder.ts";
import { libraryWorker } from "../../data/library-client.ts";

/** A side whose model can be asked again. */
export function canTell(side: Side): boolean {
  return side.promptIds !== null && side.ids !== null && side.model !== null;
}

/** Computes the distributions of the given sides of the shown decision that have none yet, a pass each. */
export async function scoreDistributions(sides: readonly Side[]): Promise<void> {
  const { decision } = getUi();
  if (decision === null) return;
  const wanted = sides.filter((side) => side.distribution === null && canTell(side));
  await runScoring("distribution", scoreKey(decision), async (run) => {
    for (const side of wanted) {
      const { key, label, model } = side;
      if (model === "other") {
        const folder = otherFolder(key);
        if (folder === null) throw new Error(`the model of ${key} is not there any more`);
        const texts = await run.wait(tokenizerTexts(folder));
        if (texts !== null) await run.wait(libraryWorker().setOtherTokenizer(texts));
        await run.openOther(folder);
      } else await run.open(model!);
      const engine = model === "other" ? side.provenance.engine : getUi().models[model!]?.info;
      let result: PassResult | null = null;
      await run.score(
        [
          {
            model: model!,
            label: `Most probable tokens: ${label}`,
            promptIds: side.promptIds!,
            responseIds: side.ids!,
            wanted: wantedOf(engine ?? undefined),
          },
        ],
        (_, each) => {
          result = each;
        },
      );
      const distribution = await run.wait(distributionOf(result!, model!));
      if (distribution === null) throw new Error("the model told no distribution");
      keepSide(run.key, { ...side, distribution });
    }
  });
}
