import type { AttentionTensors } from "./attention-mixer.ts";
import type { Backend } from "./backend.ts";
import { type ModelConfig, normOffset } from "./config.ts";
import type { LayerTensors } from "./layer.ts";
import { mixerForward } from "./mixer.ts";
import { notHere, type Reach } from "./packed-rows.ts";
import type { ModelTensors } from "./passes.ts";
import type { RecurrentStep } from "./recurrent-slots.ts";
import type { DecodeState, LayerCache, Tensor } from "./tensor.ts";

/**
 * One token of M sequences: their present tokens go through the model into the cache, and the next ones are drawn.
 * Nothing comes from the host, so that the step can be recorded and run again.
 *
 * @param cache of each layer with full attention
 * @param recurrent the states of linear layers, where there are any
 */
export function decodeStep(
  backend: Backend,
  config: ModelConfig,
  w: ModelTensors,
  tables: { cos: Tensor; sin: Tensor },
  cache: readonly (LayerCache | null)[],
  recurrent: RecurrentStep | null,
  state: DecodeState,
): void {
  const { normEpsilon: eps, vocabularySize } = config;
  const count = state.ids.shape[0]!;
  const offset = normOffset(config);
  let x = backend.embedding(w.embedding, state.ids);
  let normed = backend.rmsNorm(x, w.layers[0]!.inputNorm, eps, offset).y;
  for (const [i, layer] of w.layers.entries()) {
    const mixed =
      config.architecture === "qwen3"
        ? attend(backend, config, attentionOf(layer), normed, tables, cache[i]!, state)
        : mixerForward(
            ...([backend, config, layer.mixer, normed, { ...tables, positions: state.positions }] as const),
            cache[i] ? attentionReach(backend, cache[i], state) : { attend: notHere, ...recurrent!.reach(i) },
          ).y;
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

/** `attentionForward` of one token per sequence, without an output gate, in fewer dispatches. */
function attend(
  backend: Backend,
  config: ModelConfig,
  { query, key, value, queryNorm, keyNorm, output }: AttentionTensors,
  normed: Tensor,
  tables: { cos: Tensor; sin: Tensor },
  cache: LayerCache,
  state: DecodeState,
): Tensor {
  const norms = { query: queryNorm, key: keyNorm, epsilon: config.normEpsilon, offset: normOffset(config) };
  const qkv = backend.joinColumns(backend.linearEach(normed, [query, key, value]));
  return backend.linear(backend.attendNext(cache, qkv, norms, tables, state), output);
}

function attentionReach(
  backend: Backend,
  cache: LayerCache,
  { rows, starts, ends, most }: DecodeState,
): Reach {
  return {
    attend: (q, k, v) => {
      backend.putRows(cache.k, rows, k);
      backend.putRows(cache.v, rows, v);
      return backend.attention(q, cache.k, cache.v, { start: starts, end: ends, most });
    },
    convolve: notHere,
    recur: notHere,
  };
}

/** The parameters of a layer that mixes by full attention. */
export function attentionOf({ mixer }: LayerTensors): AttentionTensors {
  if (mixer.type !== "full_attention") throw new Error(`a ${mixer.type} layer has no keys to look back at`);
  return mixer.tensors;
}
