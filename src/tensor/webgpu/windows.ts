import { elements } from "../shapes.ts";
import { wordOfRow } from "../weight-format.ts";
import type { Context } from "./context.ts";
import { type GpuTensor, WINDOW_STEP } from "./memory.ts";

/**
 * Tensors longer than one binding may span (2 GiB on many devices: the f32 embedding of an 8B model is longer) lie in
 * one buffer all the same; operations go through them in windows. Where everything fits, there is one window: the
 * tensor itself.
 */
export interface RowRange {
  first: number;
  rows: number;
}

export interface RowBounds {
  /** Rows of one range. */
  most?: number;
  /** Ranges begin at multiples of this power of two. */
  multiple?: number;
}

/** Ranges of rows, the same for tensors with equally many rows, each small enough to bind in every one of them. */
export function rowRanges(
  { bindingLimit }: Pick<Context, "bindingLimit">,
  tensors: readonly GpuTensor[],
  { most = Number.POSITIVE_INFINITY, multiple = 4 }: RowBounds = {},
): RowRange[] {
  const total = tensors[0]!.shape[0] ?? 0;
  let fit = Math.max(1, most);
  for (const t of tensors)
    if (t.bindingBytes > bindingLimit) fit = Math.min(fit, Math.floor(bindingLimit / 4 / rowWords(t)));
  if (total <= fit) return total === 0 ? [] : [{ first: 0, rows: total }];
  // Windows begin at whole steps of the buffer.
  let step = multiple;
  while (!tensors.every((t) => (step * rowWords(t)) % WINDOW_STEP === 0)) step *= 2;
  const rows = Math.max(step, Math.floor(fit / step) * step);
  const ranges: RowRange[] = [];
  for (let first = 0; first < total; first += rows)
    ranges.push({ first, rows: Math.min(rows, total - first) });
  return ranges;
}

/** Some rows of a tensor as a tensor. `first` is one of `rowRanges`. */
export function rowsOf(t: GpuTensor, { first, rows }: RowRange): GpuTensor {
  if (first === 0 && rows === t.shape[0]) return t;
  return t.window(first * rowWords(t), [rows, ...t.shape.slice(1)]);
}

/** Words of one row: halves, too, of 16-bit rows of odd width. */
function rowWords(t: GpuTensor): number {
  const width = elements(t.shape.slice(1));
  return t.dtype === "u32" ? width : wordOfRow(t.dtype, width, 1);
}

/** Tensors of one length, for operations on each value: all of them in parts that can be bound. */
export function valueParts(
  context: Pick<Context, "bindingLimit">,
  tensors: readonly GpuTensor[],
): GpuTensor[][] {
  const [longest] = tensors as [GpuTensor];
  if (longest.bindingBytes <= context.bindingLimit) return [[...tensors]];
  const step = Math.floor(context.bindingLimit / 4 / WINDOW_STEP) * WINDOW_STEP;
  const parts: GpuTensor[][] = [];
  for (let at = 0; at < longest.length; at += step)
    parts.push(tensors.map((t) => t.window(at, [Math.min(step, longest.length - at)])));
  return parts;
}
