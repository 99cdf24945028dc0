/** What else is known of each token: its rank, the most probable tokens in its place, the entropy; on request. */

import { tokenizerTexts } from "../library/model-folder.ts";
import type { Distribution, Side, SideModel } from "../state/side.ts";
import { getUi } from "../state/store.ts";
import { libraryWorker } from "../workers/clients.ts";
import { otherFolder } from "./other-model.ts";
import { type PassResult, runScoring, scoreKey } from "./scoring-run.ts";
import { keepSide } from "./sides.ts";

/** How many of the most probable tokens are kept in each place: ranks are known up to here. */
export const TOP = 64;

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
      let result: PassResult | null = null;
      await run.score(
        [
          {
            model: model!,
            label: `Most probable tokens: ${label}`,
            promptIds: side.promptIds!,
            responseIds: side.ids!,
            wanted: { topK: TOP, entropy: true },
          },
        ],
        (_, each) => {
          result = each;
        },
      );
      const distribution = await run.wait(distributionOf(result!, model!));
      keepSide(run.key, { ...side, distribution });
    }
  });
}

async function distributionOf(
  { entropy, topIds, topLogprobs }: PassResult,
  model: SideModel,
): Promise<Distribution> {
  if (entropy === undefined || topIds === undefined || topLogprobs === undefined)
    throw new Error("the model told no distribution");
  const ids = [...new Set(topIds)];
  const texts = await libraryWorker().tokenTexts(ids, model);
  return {
    entropy,
    top: TOP,
    topIds,
    topLogprobs,
    texts: new Map(ids.map((id, i) => [id, texts[i]!])),
  };
}
