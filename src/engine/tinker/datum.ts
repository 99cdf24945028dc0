/** Sequences as Tinker's API takes them: shifted by one token, every array as long as the sequence less its first token. */

/** A response after its prompt, which has a token at least. */
export interface Sequence {
  promptIds: readonly number[];
  responseIds: readonly number[];
}

export interface Datum {
  model_input: { chunks: { type: "encoded_text"; tokens: number[] }[] };
  loss_fn_inputs: Record<"target_tokens" | "weights", { data: number[] }> &
    Partial<Record<"logprobs" | "advantages", { data: number[] }>>;
}

/**
 * One sequence; its weights are a mask, 1 for the tokens of the response.
 *
 * @param values [response tokens] each, for `importance_sampling`
 */
export function datumOf(
  { promptIds, responseIds }: Sequence,
  values: { logprobs?: ArrayLike<number>; advantages?: ArrayLike<number> } = {},
): Datum {
  const all = [...promptIds, ...responseIds];
  const before = promptIds.length - 1;
  const placed = (of: ArrayLike<number>) => ({
    data: [...new Array<number>(before).fill(0), ...Array.from(of)],
  });
  const { logprobs, advantages } = values;
  return {
    model_input: { chunks: [{ type: "encoded_text", tokens: all.slice(0, -1) }] },
    loss_fn_inputs: {
      target_tokens: { data: all.slice(1) },
      weights: placed(responseIds.map(() => 1)),
      ...(logprobs === undefined ? {} : { logprobs: placed(logprobs) }),
      ...(advantages === undefined ? {} : { advantages: placed(advantages) }),
    },
  };
}

/** Sequences of one request, by the servers' own advice: about 5 MB. */
const MOST_SEQUENCES = 1024;
const MOST_TOKENS = 40_000;

/** Consecutive parts of `given`, each small enough for one request. One long sequence has a request of its own. */
export function requestParts<T extends Sequence>(given: readonly T[]): T[][] {
  const parts: T[][] = [];
  let tokens = 0;
  for (const each of given) {
    const more = each.promptIds.length + each.responseIds.length;
    const last = parts.at(-1);
    if (last === undefined || last.length === MOST_SEQUENCES || tokens + more > MOST_TOKENS) {
      parts.push([each]);
      tokens = more;
    } else {
      last.push(each);
      tokens += more;
    }
  }
  return parts;
}
