import { uniforms } from "../../src/core/seeded.ts";
import type { Backend } from "../../src/tensor/backend.ts";
import type { KeyRange, Tensor } from "../../src/tensor/tensor.ts";

/** A context, and what is packed behind it: each continuation sees the context and itself. None: a plain sequence. */
export interface Shared {
  prefix: number;
  continuations: readonly number[];
}

/** Which keys each row of a pack sees, and up to which row each key is seen; arrays are [rows]. */
export interface PackedRanges {
  start: Uint32Array;
  end: Uint32Array;
  prefixStart: Uint32Array;
  prefixEnd: Uint32Array;
  queryEnd: Uint32Array;
}

export function packRanges(parts: readonly Shared[]): PackedRanges {
  const rows: [number, number, number, number, number][] = [];
  for (const { prefix, continuations } of parts) {
    const first = rows.length;
    const last = continuations.reduce((sum, length) => sum + length, first + prefix);
    for (let i = first; i < first + prefix; i++) rows.push([first, i + 1, 0, 0, last]);
    for (const length of continuations) {
      const from = rows.length;
      for (let i = from; i < from + length; i++)
        rows.push([from, i + 1, first, first + prefix, from + length]);
    }
  }
  const column = (c: number) => Uint32Array.from(rows, (row) => row[c]!);
  return {
    start: column(0),
    end: column(1),
    prefixStart: column(2),
    prefixEnd: column(3),
    queryEnd: column(4),
  };
}

/** Sequences without shared contexts. */
export const packSequences = (lengths: readonly number[]): PackedRanges =>
  packRanges(lengths.map((prefix) => ({ prefix, continuations: [] })));

/** A pack of about `rows` rows: plain sequences and shared contexts of any length, single tokens among them. */
export function randomPack(rows: number, seed: number): Shared[] {
  const next = uniforms(seed);
  const length = (most: number) => (next() < 0.2 ? 1 : 1 + Math.floor(next() * most));
  const parts: Shared[] = [];
  for (let left = rows; left > 0; ) {
    const prefix = length(rows / 2);
    const continuations = Array.from({ length: Math.floor(next() * 4) }, () => length(rows / 6));
    parts.push({ prefix, continuations });
    left -= continuations.reduce((sum, n) => sum + n, prefix);
  }
  return parts;
}

/** The ranges as tensors; without a prefix where no row has one, unless `always`. */
export function rangeTensors<T extends Tensor>(
  b: Backend<T>,
  ranges: PackedRanges,
  always = false,
): { keys: KeyRange<T>; queryEnd: T } {
  const tensor = (values: Uint32Array) => b.fromArray(values, [values.length]);
  const keys: KeyRange<T> = { start: tensor(ranges.start), end: tensor(ranges.end) };
  if (always || ranges.prefixEnd.some((end) => end > 0)) {
    keys.prefixStart = tensor(ranges.prefixStart);
    keys.prefixEnd = tensor(ranges.prefixEnd);
  }
  return { keys, queryEnd: tensor(ranges.queryEnd) };
}
