import { limitPrompt } from "../core/environment/prompt-limit.ts";
import type { TextCodec } from "../core/loop/codec.ts";
import type { IdRange } from "../core/ports.ts";
import {
  decisionKey,
  decisionPromptIds,
  decisionResponseIds,
  type ResponseOptions,
  requireEndOfTurn,
} from "./decision-ids.ts";
import { checkShared, type UnsharedIds } from "./same-ids.ts";
import type { Tokenizer } from "./tokenizer.ts";

/**
 * A tokenizer as the loop sees it: it writes every id. Ids that another model's tokenizer does not share are refused
 * where they come up, and are never sampled. `InputError` when it has no token that ends a turn.
 */
export function textCodec(
  tokenizer: Tokenizer,
  { unshared = [], endOfTurn = true, ended }: ResponseOptions & { unshared?: readonly UnsharedIds[] } = {},
): TextCodec {
  const checked = (ids: number[], key?: string): number[] => {
    for (const each of unshared) checkShared(ids, each, key);
    return ids;
  };
  let drawable: IdRange[] | undefined;
  return {
    encode: (text) => checked(tokenizer.encode(text, { special: false })),
    decode: (ids) => tokenizer.decode(ids),
    endOfTurnId: requireEndOfTurn(tokenizer),
    endOfTurn,
    // Looks at the whole vocabulary, which most users of a codec draw nothing from.
    get drawable() {
      drawable ??= drawableIds(tokenizer, (id) => unshared.every(({ ids }) => !ids.has(id)));
      return drawable;
    },
    prompt(decision, environment, place) {
      const ids = checked(decisionPromptIds(decision, tokenizer, place), decisionKey(place, "prompt_ids"));
      return limitPrompt(ids, environment, { file: place.file, key: decisionKey(place, "prompt") });
    },
    responseIds: (decision, environment, place) =>
      checked(
        decisionResponseIds(decision, tokenizer, environment, place, { endOfTurn, ended }),
        decisionKey(place, "response_ids"),
      ),
  };
}

/** The ids that have a token, as ascending ranges. */
function drawableIds(tokenizer: Tokenizer, isShared: (id: number) => boolean): IdRange[] {
  const ranges: IdRange[] = [];
  let from: number | null = null;
  for (let id = 0; id <= tokenizer.vocabularySize; id += 1) {
    const drawable = tokenizer.hasToken(id) && isShared(id);
    if (drawable) from ??= id;
    else if (from !== null) {
      ranges.push([from, id]);
      from = null;
    }
  }
  return ranges;
}
