import type { Backend } from "./backend.ts";
import type { Pack } from "./packing.ts";
import type { Tensor } from "./tensor.ts";

/** Values of a tile: logits of so many response rows exist at a time, 64 MiB. */
const TILE_VALUES = 2 ** 24;
/** A multiple of it suits the matrix kernels. */
const TILE_STEP = 32;

/** Response rows whose logits over the whole vocabulary exist at a time. */
export function tileRows(vocabulary: number): number {
  const rows = Math.max(1, Math.floor(TILE_VALUES / vocabulary));
  return rows < TILE_STEP ? rows : rows - (rows % TILE_STEP);
}

/** What a student's response tokens are compared with, of one sequence. */
export interface TeacherTarget {
  /** [response tokens] ∂L/∂KL: 0 leaves a token out. */
  weights: Float32Array;
  /** [response tokens · n] natural log, of `ids`; of the whole vocabulary without them. */
  logprobs: Float32Array;
  /** [response tokens · n] distinct in each place, n at most 64. */
  ids?: Uint32Array;
}

/** Rows of a response head: hidden rows [R,d] and the weight [V,d]. */
export interface HeadRows {
  normed: Tensor;
  head: Tensor;
}

/**
 * Reverse KL of each response row of a pack against its teacher's target, and the gradients of Σ weight · KL: those of the
 * head's weight accumulate in `dw`. In tiles of rows, each waited for, so that no more than one tile's logits, and as much
 * of the teacher's, is on the device.
 *
 * @param targets by the place of a sequence in the list of sequences; all with ids, or none
 * @returns dNormed [R,d], the caller's to free, and kl [R]
 */
export async function divergenceHead(
  backend: Backend,
  { normed, head }: HeadRows,
  dw: Tensor,
  pack: Pack,
  targets: readonly TeacherTarget[],
): Promise<{ dNormed: Tensor; kl: Float32Array }> {
  const rows = pack.rows.length;
  const [vocabulary, width] = head.shape as [number, number];
  const most = tileRows(vocabulary);
  const kl = new Float32Array(rows);
  const dNormed = backend.zeros([rows, width]);
  try {
    for (let at = 0; at < rows; at += most) {
      const count = Math.min(most, rows - at);
      const { weights, logprobs, ids } = tileTargets(pack, targets, at, count);
      const found = backend.scope((keep) => {
        const hidden = backend.gatherRows(normed, rowsFrom(backend, at, count));
        const logits = backend.linear(hidden, head);
        const teacher = backend.fromArray(logprobs, [count, logprobs.length / count]);
        const c = backend.fromArray(weights, [count]);
        const divergence =
          ids === null
            ? backend.reverseKl(logits, teacher, c)
            : backend.topReverseKl(logits, backend.fromArray(ids, teacher.shape), teacher, c);
        // Where all tokens are left out the gradient is exactly zero.
        if (weights.some((weight) => weight !== 0)) {
          backend.copyRows(dNormed, at, backend.linearBackwardInput(logits, head));
          backend.linearBackwardWeight(dw, logits, hidden);
        }
        return keep(divergence);
      });
      try {
        kl.set(await backend.read(found), at);
      } finally {
        backend.free(found);
      }
    }
    return { dNormed, kl };
  } catch (error) {
    backend.free(dNormed);
    throw error;
  }
}

/**
 * Log-probabilities of the whole vocabulary in each response row of a pack, natural log, tile by tile.
 *
 * @param to [response tokens · V] of a sequence, by its place in the list of sequences
 */
export async function readDistribution(
  backend: Backend,
  { normed, head }: HeadRows,
  { rows, segments }: Pack,
  to: (index: number) => Float32Array,
): Promise<void> {
  const vocabulary = head.shape[0]!;
  const most = tileRows(vocabulary);
  for (let at = 0; at < rows.length; at += most) {
    const count = Math.min(most, rows.length - at);
    const logits = backend.scope((keep) =>
      keep(backend.linear(backend.gatherRows(normed, rowsFrom(backend, at, count)), head)),
    );
    try {
      const logprobs = await backend.read(logits);
      for (let row = 0; row < count; row++)
        normalise(logprobs.subarray(row * vocabulary, (row + 1) * vocabulary));
      for (const { index, row, count: length } of segments) {
        const [from, end] = [Math.max(at, row), Math.min(at + count, row + length)];
        if (from >= end) continue;
        const told = logprobs.subarray((from - at) * vocabulary, (end - at) * vocabulary);
        to(index).set(told, (from - row) * vocabulary);
      }
    } finally {
      backend.free(logits);
    }
  }
}

/** Logits to log-probabilities, in place; sums in f64. By index: an iterator takes twice as long, at every response token. */
function normalise(row: Float32Array): void {
  const { length } = row;
  let max = Number.NEGATIVE_INFINITY;
  for (let v = 0; v < length; v++) if (row[v]! > max) max = row[v]!;
  let sum = 0;
  for (let v = 0; v < length; v++) sum += Math.exp(row[v]! - max);
  const lse = max + Math.log(sum);
  for (let v = 0; v < length; v++) row[v] = row[v]! - lse;
}

function rowsFrom(backend: Backend, at: number, count: number): Tensor {
  return backend.fromArray(
    Uint32Array.from({ length: count }, (_, i) => at + i),
    [count],
  );
}

/** The targets of the rows at … at + count − 1 of a pack, which lie in one or more sequences. */
function tileTargets(pack: Pack, targets: readonly TeacherTarget[], at: number, count: number) {
  const here = pack.segments.flatMap(({ index, row, count: length }) => {
    const [from, to] = [Math.max(at, row), Math.min(at + count, row + length)];
    return from < to ? [{ target: targets[index]!, row, length, from, to }] : [];
  });
  const width = here[0]!.target.logprobs.length / here[0]!.length;
  const weights = new Float32Array(count);
  const logprobs = new Float32Array(count * width);
  const ids = here[0]!.target.ids === undefined ? null : new Uint32Array(count * width);
  for (const { target, row, from, to } of here) {
    const [first, end] = [(from - row) * width, (to - row) * width];
    weights.set(target.weights.subarray(from - row, to - row), from - at);
    logprobs.set(target.logprobs.subarray(first, end), (from - at) * width);
    ids?.set(target.ids!.subarray(first, end), (from - at) * width);
  }
  return { weights, logprobs, ids };
}
