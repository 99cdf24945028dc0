import type { Backend } from "./backend.ts";
import type { ModelConfig } from "./config.ts";
import { joinRows, rowNumbers } from "./device-rows.ts";
import { layerForward } from "./layer.ts";
import { notHere } from "./packed-rows.ts";
import type { ModelTensors } from "./passes.ts";
import type { Begin, RecurrentSlots } from "./recurrent-slots.ts";
import type { LayerCache, Tensor } from "./tensor.ts";

/** Tokens of one sequence that go through the model together, behind `from` tokens that its cache holds. */
export interface Segment {
  ids: readonly number[];
  /** Position of the first. */
  from: number;
  /** The sequence's first row in the cache. */
  start: number;
  /** Slots of the states before and after the tokens, where there are linear layers. */
  begin: Begin;
  to: number;
}

/** Puts what the layers keep of segments of distinct sequences into the cache and the slots, in one pass. */
export function prefill(
  backend: Backend,
  config: ModelConfig,
  w: ModelTensors,
  tables: { cos: Tensor; sin: Tensor },
  cache: readonly (LayerCache | null)[],
  recurrent: RecurrentSlots | null,
  segments: readonly Segment[],
): void {
  backend.scope(() => {
    const vector = (values: readonly number[]) => rowNumbers(backend, values);
    const each = (value: (segment: Segment, i: number) => number) =>
      vector(segments.flatMap((segment) => segment.ids.map((_, i) => value(segment, i))));
    const prefixes = segments.reduce((sum, { from }) => sum + from, 0);
    // Where the keys of each segment begin among those of the pass: first what the cache holds of all, then the new ones.
    const places = new Map<Segment, { prefix: number; own: number }>();
    let [prefix, own] = [0, prefixes];
    for (const segment of segments) {
      places.set(segment, { prefix, own });
      prefix += segment.from;
      own += segment.ids.length;
    }
    const place = (segment: Segment) => places.get(segment)!;
    const positions = each(({ from }, i) => from + i);
    const rows = each(({ start, from }, i) => start + from + i);
    const before =
      prefixes === 0
        ? null
        : vector(segments.flatMap(({ start, from }) => Array.from({ length: from }, (_, i) => start + i)));
    const keys = {
      start: each((segment) => place(segment).own),
      end: each((segment, i) => place(segment).own + i + 1),
      pairs: segments.reduce((sum, { ids, from }) => sum + ids.length * (from + (ids.length + 1) / 2), 0),
      ...(before === null
        ? {}
        : {
            prefixStart: each((segment) => place(segment).prefix),
            prefixEnd: each((segment) => place(segment).prefix + segment.from),
          }),
    };
    const linear = recurrent?.reach(segments.map(({ begin, to, ids }) => ({ begin, to, count: ids.length })));
    let x = backend.embedding(w.embedding, vector(segments.flatMap(({ ids }) => [...ids])));
    for (const [i, layer] of w.layers.entries()) {
      const held = cache[i];
      const y = backend.scope((keep) => {
        const behind = (all: Tensor, fresh: Tensor): Tensor => {
          backend.putRows(all, rows, fresh);
          return before === null ? fresh : joinRows(backend, [backend.gatherRows(all, before), fresh]);
        };
        const reach = held
          ? {
              attend: (q: Tensor, k: Tensor, v: Tensor) =>
                backend.attention(q, behind(held.k, k), behind(held.v, v), keys),
              convolve: notHere,
              recur: notHere,
            }
          : { attend: notHere, ...linear!(i) };
        return keep(layerForward(backend, config, layer, x, { ...tables, positions }, reach).y);
      });
      backend.free(x);
      x = y;
      backend.submitAhead();
    }
  });
}
