import { elements } from "../shapes.ts";
import { blockWords, isFrozen } from "../weight-format.ts";
import { type Context, groupsOf } from "./context.ts";
import type { GpuTensor } from "./memory.ts";
import formats from "./weight-formats.wgsl?raw";
import unpacking from "./weight-words.wgsl?raw";
import entries from "./weights.wgsl?raw";
import { canExpandHalf } from "./weights-half.ts";
import { type RowBounds, type RowRange, rowRanges, rowsOf } from "./windows.ts";

const source = `${unpacking}\n${formats}\n${entries}`;

/** Values that are expanded at a time: 64 MiB on a software adapter, 512 MiB on a GPU. */
const SCRATCH = { software: 2 ** 24, gpu: 2 ** 27 };

/** Rows of a weight [N,K] in the format of computing. */
export interface WeightBlock extends RowRange {
  /** [rows, K] f32, or f16 where the products take it so. */
  tensor: GpuTensor;
}

/**
 * A weight of any format as an operand of products, in blocks of rows that can be bound: the rows themselves where
 * products take them as they are (f32; f16 where they compute in it), or in f16 as long as the block lasts; else rows
 * expanded to f32 in scratch memory, which the next block uses again. One block where all fits.
 */
export function* weightBlocks(
  context: Context,
  w: GpuTensor,
  bounds: RowBounds = {},
): Generator<WeightBlock, void> {
  // Products along the rows of a weight go by whole vec4s of them.
  const inHalf = context.f16 !== undefined && w.shape[0]! % 4 === 0 && w.shape[1]! % 8 === 0;
  if (!isFrozen(w.dtype) || (inHalf && w.dtype === "f16")) {
    for (const range of rowRanges(context, [w], bounds)) yield { ...range, tensor: rowsOf(w, range) };
    return;
  }
  const width = w.shape[1]!;
  const fit = Math.min(context.software ? SCRATCH.software : SCRATCH.gpu, context.bindingLimit / 4);
  const most = Math.min(bounds.most ?? Number.POSITIVE_INFINITY, Math.floor(fit / width));
  const { memory } = context;
  for (const range of rowRanges(context, [w], { ...bounds, most })) {
    if (inHalf && canExpandHalf(w)) {
      const tensor = rowsOf(w, range);
      try {
        yield { ...range, tensor };
      } finally {
        memory.freeCopies(tensor, "half");
        memory.freeCopies(tensor, "panels");
      }
      continue;
    }
    const scratch = memory.allocate([range.rows, width], "f32");
    try {
      expandRows(context, rowsOf(w, range), scratch);
      yield { ...range, tensor: scratch };
    } finally {
      memory.free(scratch);
    }
  }
}

/** All of a frozen weight as f32 [N,K]; the caller frees it. */
export function expandWeight(context: Context, w: GpuTensor): GpuTensor {
  const y = context.memory.allocate(w.shape, "f32");
  for (const range of rowRanges(context, [w, y])) expandRows(context, rowsOf(w, range), rowsOf(y, range));
  return y;
}

/** y[r] = w[index[r]], w [N,K] of any format, or [N, …] in f32 or f16; y f32 [index.length, …]. */
export function gatherWeights(context: Context, w: GpuTensor, index: GpuTensor): GpuTensor {
  const count = index.length;
  const y = context.memory.allocate([count, ...w.shape.slice(1)], "f32");
  for (const range of rowRanges(context, [w]))
    run(context, "gather_weights", "rrw", [rowsOf(w, range), index, y], count, range);
  return y;
}

function expandRows(context: Context, w: GpuTensor, y: GpuTensor): void {
  const rows = w.shape[0]!;
  run(context, "expand_weights", "rw", [w, y], rows, { first: 0, rows });
}

function run(
  { commands }: Context,
  entry: string,
  buffers: string,
  tensors: [GpuTensor, ...GpuTensor[]],
  rows: number,
  bound: RowRange,
): void {
  const { dtype, shape } = tensors[0];
  const width = elements(shape.slice(1));
  const vec4 = width % 4 === 0;
  const sizes = blockWords(dtype, width);
  const per = vec4 ? 4 : 1;
  commands.dispatch({
    kernel: {
      source,
      entry,
      buffers,
      constants: {
        FORMAT: dtype,
        TYPE: vec4 ? "vec4f" : "f32",
        PER: per,
        VALUES: vec4 ? "four" : "one",
      },
    },
    buffers: tensors,
    groups: groupsOf((rows * width) / per),
    uints: [rows, bound.first, bound.rows, width, sizes.group, sizes.block, sizes.row],
    work: 4 * rows * width,
  });
}
