import type { AttentionTensors } from "./attention-mixer.ts";
import type { Backend } from "./backend.ts";
import { normOffset } from "./config.ts";
import type { LayerTensors } from "./layer.ts";
import type { ModelTensors } from "./passes.ts";
import type { Qwen3Config } from "./qwen3-config.ts";
import type { DecodeState, LayerCache, Tensor } from "./tensor.ts";

/**
 * One token of M sequences: their present tokens go through the model into the cache, and the next ones are drawn.
 * Nothing comes from the host, so that the step can be recorded and run again.
 */
export function decodeStep(
  backend: Backend,
  config: Qwen3Config,
  w: ModelTensors,
  { cos, sin }: { cos: Tensor; sin: Tensor },
  cache: readonly LayerCache[],
  state: DecodeState,
): void {
  const { heads, keyValueHeads: groups, headSize, normEpsilon: eps, vocabularySize } = config;
  const { ids, positions, rows, starts, ends, most } = state;
  const count = ids.shape[0]!;
  const offset = normOffset(config);
  let x = backend.embedding(w.embedding, ids);
  let normed = backend.rmsNorm(x, w.layers[0]!.inputNorm, eps, offset).y;
  for (const [i, layer] of w.layers.entries()) {
    const { query, key, value, queryNorm, keyNorm, output } = attentionOf(layer);
    const [rawQ, k, v] = backend.linearEach(normed, [query, key, value]) as [Tensor, Tensor, Tensor];
    backend.reshape(rawQ, [count, heads, headSize]);
    for (const t of [k, v]) backend.reshape(t, [count, groups, headSize]);
    const { y: q } = backend.rmsNormRope(rawQ, queryNorm, eps, cos, sin, positions, offset);
    const held = { keys: cache[i]!.k, values: cache[i]!.v, rows };
    backend.putKeyValues(held, k, v, keyNorm, eps, cos, sin, positions, offset);
    const { o } = backend.attention(q, held.keys, held.values, { start: starts, end: ends, most });
    const mixed = backend.linear(backend.reshape(o, [count, heads * headSize]), output);
    const middle = backend.addRmsNorm(x, mixed, layer.postNorm, eps, offset);
    const act = backend.linearSwiglu(middle.y, layer.gate, layer.up);
    // The residual sum and the next layer's norm in one pass.
    const nextNorm = w.layers[i + 1]?.inputNorm ?? w.finalNorm;
    const next = backend.addRmsNorm(middle.sum, backend.linear(act, layer.down), nextNorm, eps, offset);
    x = next.sum;
    normed = next.y;
  }
  backend.drawTokens(backend.reshape(backend.linear(normed, w.head), [count, vocabularySize]), state);
}

/** The parameters of a layer that mixes by full attention. */
export function attentionOf({ mixer }: LayerTensors): AttentionTensors {
  if (mixer.type !== "full_attention") throw new Error(`a ${mixer.type} layer has no keys to look back at`);
  return mixer.tensors;
}
