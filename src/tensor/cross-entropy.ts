import type { LanguageModel } from "./language-model.ts";
import type { ModelWork, Sequence } from "./packing.ts";

/**
 * Adds the gradient of the weighted mean next-token cross-entropy, −Σ w log p / Σ w over the response tokens of all
 * sequences. Without `weights` each token weighs 1. To train on a context too, hand over its first token as the prompt
 * and the rest as the response.
 */
export async function crossEntropyBackward(
  model: LanguageModel,
  sequences: readonly Sequence[],
  weights?: (index: number) => ArrayLike<number>,
  work: ModelWork = {},
): Promise<{ loss: number; tokens: number; logprobs: Float32Array[] }> {
  const weighted = sequences.map(({ responseIds }, index) => {
    const given = Float64Array.from(weights?.(index) ?? responseIds.map(() => 1));
    if (given.length !== responseIds.length)
      throw new Error(
        `${given.length} weights for the ${responseIds.length} tokens of sequence ${index + 1}`,
      );
    return given;
  });
  const total = weighted.reduce((sum, row) => row.reduce((part, weight) => part + weight, sum), 0);
  if (!(total > 0)) throw new Error("cross-entropy: the weights add up to nothing");
  const logprobs = await model.backward(
    sequences,
    (index) => Float32Array.from(weighted[index]!, (weight) => -weight / total),
    work,
  );
  let loss = 0;
  for (const [index, row] of logprobs.entries())
    for (let j = 0; j < row.length; j++) loss -= (weighted[index]![j]! * row[j]!) / total;
  return { loss, tokens: logprobs.reduce((sum, row) => sum + row.length, 0), logprobs };
}
