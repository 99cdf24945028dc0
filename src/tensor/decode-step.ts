import type { AttentionTensors } from "./attention-mixer.ts";
import type { Backend } from "./backend.ts";
import { type ModelConfig, normOffset } from "./config.ts";
import type { LayerTensors } from "./layer.ts";
import { mixerForward } from "./mixer.ts";
import { notHere, type Reach } from "./packed-rows.ts";
import type { ModelTensors } from "./passes.ts";
import type { RecurrentStep } from "./recurrent-slots.ts";
import type { DecodeState, LayerCache, NormOf, Tensor } from "./tensor.ts";

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
  const { normEpsilon: epsilon } = config;
  const offset = normOffset(config);
  const norm = (weight: Tensor) => ({ weight, epsilon, offset });
  const x = backend.embedding(w.embedding, state.ids);
  for (const [i, layer] of w.layers.entries())
    backend.scope(() => {
      if (config.architecture === "qwen3")
        attend(backend, attentionOf(layer), x, norm(layer.inputNorm), tables, cache[i]!, state);
      else {
        const normed = backend.rmsNorm(x, layer.inputNorm, epsilon, offset).y;
        const places = { ...tables, positions: state.positions };
        const reach = cache[i]
          ? attentionReach(backend, cache[i], state)
          : { attend: notHere, ...recurrent!.reach(i) };
        backend.addInPlace(x, mixerForward(backend, config, layer.mixer, normed, places, reach).y);
      }
      const act = backend.linearSwiglu(x, layer.gate, layer.up, norm(layer.postNorm));
      backend.addLinear(x, act, layer.down);
    });
  backend.drawTokens(backend.linearJoined(x, [w.head], norm(w.finalNorm)), state);
}

/** x += `attentionForward` of its norm, of one token per sequence and without an output gate, in fewer dispatches. */
function attend(
  backend: Backend,
  { query, key, value, queryNorm, keyNorm, output }: AttentionTensors,
  x: Tensor,
  norm: NormOf,
  tables: { cos: Tensor; sin: Tensor },
  cache: LayerCache,
  state: DecodeState,
): void {
  const { epsilon, offset } = norm;
  const qkv = backend.linearJoined(x, [query, key, value], norm);
  const norms = { query: queryNorm, key: keyNorm, epsilon, offset };
  backend.addLinear(x, backend.attendNext(cache, qkv, norms, tables, state), output);
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
