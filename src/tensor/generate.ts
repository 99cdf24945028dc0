import { InputError } from "../core/errors.ts";
import type { IdRange } from "../core/ports.ts";
import type { Backend } from "./backend.ts";
import { type ModelConfig, normOffset } from "./config.ts";
import { DecodingCache } from "./decoding-cache.ts";
import { layerForward } from "./layer.ts";
import type { ModelTensors } from "./passes.ts";
import type { RopeTable } from "./rope-table.ts";
import { type DrawBounds, drawGreedy, drawSample } from "./sampling.ts";
import type { Tensor } from "./tensor.ts";
import { yieldToEventLoop } from "./yield-to-event-loop.ts";

export interface GenerateOptions extends DrawBounds {
  maxTokens: number;
  /** 0 takes the most probable token. */
  temperature: number;
  /** Numbers in [0, 1), one per token; needed unless the temperature is 0. */
  uniform?: () => number;
  /** Ids that end the response; kept as its last token. */
  stopIds?: readonly number[];
  /** The only ids that may be drawn, as ascending ranges; every vocabulary row when absent. */
  drawable?: readonly IdRange[];
  signal?: AbortSignal;
}

export interface Generated {
  ids: number[];
  /** At temperature 1, over every vocabulary row. */
  logprobs: Float32Array;
  /** Whether a stop id ended it, and not the number of tokens. */
  stopped: boolean;
}

/** Prompt tokens that go through the model at once. */
const PREFILL = 1024;

/** Continues a checked prompt token by token, with the state of the tokens before kept. */
export async function generate(
  backend: Backend,
  config: ModelConfig,
  w: ModelTensors,
  rope: RopeTable,
  promptIds: readonly number[],
  options: GenerateOptions,
  model: string,
): Promise<Generated> {
  const { maxTokens, temperature, uniform, stopIds = [], signal } = options;
  const drawable = options.drawable ?? [[0, config.vocabularySize]];
  const draw = (logits: Float32Array) => {
    if (temperature === 0) return drawGreedy(logits, drawable);
    if (uniform === undefined) throw new Error("generate: uniform is needed unless the temperature is 0");
    return drawSample(logits, temperature, uniform(), drawable, options);
  };
  const ids: number[] = [];
  const logprobs: number[] = [];
  const cache = new DecodingCache(backend, config, promptIds.length + Math.min(maxTokens, 256));
  try {
    let at = 0;
    let waiting: readonly number[] = promptIds;
    while (ids.length < maxTokens) {
      let logits: Tensor | null = null;
      for (let from = 0; from < waiting.length; from += PREFILL) {
        signal?.throwIfAborted();
        const chunk = waiting.slice(from, from + PREFILL);
        const last = from + chunk.length === waiting.length;
        cache.reserve(at + chunk.length);
        logits = advance(backend, config, w, rope.tables(at + chunk.length), cache, chunk, at, last);
        at += chunk.length;
        await yieldToEventLoop(backend);
      }
      const values = await backend.read(logits!);
      backend.free(logits);
      const { id, logprob } = draw(values);
      if (!Number.isFinite(logprob))
        throw new InputError(`the log-probability of token ${ids.length + 1} is not finite`, { file: model });
      ids.push(id);
      logprobs.push(logprob);
      if (stopIds.includes(id)) return { ids, logprobs: Float32Array.from(logprobs), stopped: true };
      waiting = [id];
    }
    return { ids, logprobs: Float32Array.from(logprobs), stopped: false };
  } finally {
    cache.dispose();
  }
}

/** Takes tokens at positions at, at+1, … into the cache; returns the logits [V] after the last one, if asked for. */
function advance(
  backend: Backend,
  config: ModelConfig,
  w: ModelTensors,
  tables: { cos: Tensor; sin: Tensor },
  cache: DecodingCache,
  ids: readonly number[],
  at: number,
  wanted: boolean,
): Tensor | null {
  const count = ids.length;
  return backend.scope((keep) => {
    const positions = backend.fromArray(
      Uint32Array.from(ids, (_, i) => at + i),
      [count],
    );
    let x = backend.embedding(w.embedding, backend.fromArray(Uint32Array.from(ids), [count]));
    for (const [i, layer] of w.layers.entries()) {
      const y = backend.scope((keepLayer) =>
        keepLayer(
          layerForward(backend, config, layer, x, { ...tables, positions }, cache.reach(i, at, count)).y,
        ),
      );
      backend.free(x);
      x = y;
      if (count > 1) backend.submitAhead();
    }
    if (!wanted) return null;
    const last = backend.gatherRows(x, backend.fromArray(Uint32Array.of(count - 1), [1]));
    const { y: normed } = backend.rmsNorm(last, w.finalNorm, config.normEpsilon, normOffset(config));
    return backend.reshape(keep(backend.linear(normed, w.head)), [config.vocabularySize]);
  });
}
