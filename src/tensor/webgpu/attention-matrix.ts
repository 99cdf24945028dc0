import type { AttentionSizes } from "../shapes.ts";
import matrixBackward from "./attention-matrix-backward.wgsl?raw";
import matrixCommon from "./attention-matrix-common.wgsl?raw";
import matrixDkv from "./attention-matrix-dkv.wgsl?raw";
import matrixDq from "./attention-matrix-dq.wgsl?raw";
import matrixForward from "./attention-matrix-forward.wgsl?raw";
import matrixPlan from "./attention-matrix-plan.wgsl?raw";
import type { Kernel } from "./commands.ts";
import { type Context, matrixShape } from "./context.ts";
import type { GpuTensor } from "./memory.ts";
import type { MatrixPass, MatrixTiles } from "./tuning.ts";

/** Head sizes that the matrix kernels are written for. */
export const MATRIX_HEAD_SIZES = [32, 64, 128, 256] as const;

/** By pass and head size: best first, as measured on an H200 and an H100, then with fewer rows. */
const CHOICES: Record<"forward" | "backward", Record<number, readonly MatrixTiles[]>> = {
  forward: {
    32: [tiles(4, 32), tiles(2, 32), tiles(1, 32)],
    64: [tiles(4, 32, 2, 2), tiles(4, 32, 1, 2), tiles(2, 32, 1, 2)],
    128: [tiles(8, 32, 2, 2), tiles(4, 32, 2, 2), tiles(4, 32, 1, 2), tiles(2, 32, 1, 2)],
    256: [tiles(8, 32, 1, 2), tiles(4, 32, 1, 2)],
  },
  backward: {
    32: [tiles(4, 64), tiles(2, 64), tiles(1, 64)],
    64: [tiles(4, 32), tiles(2, 32), tiles(1, 32)],
    128: [tiles(8, 32), tiles(4, 32), tiles(2, 32), tiles(1, 32)],
    256: [tiles(4, 32), tiles(2, 32), tiles(1, 32)],
  },
};
/** Vec4s of each tile that a thread of the backward passes may hold ahead: more do not fit its registers. */
const MOST_AHEAD = 4;

const SOURCES: Record<MatrixPass, string> = {
  forward: `${matrixCommon}\n${matrixForward}`,
  dq: `${matrixCommon}\n${matrixBackward}\n${matrixDq}`,
  dkv: `${matrixCommon}\n${matrixBackward}\n${matrixDkv}`,
};
export const ATTENTION_SOURCES: readonly string[] = [...Object.values(SOURCES), matrixPlan];
/** Letters of each kernel's buffers (see `Kernel`): what tiles are loaded from is held. */
const BUFFERS: Record<MatrixPass, string> = { forward: "rhhrrww", dq: "rhhrrrrw", dkv: "hrrhrrrww" };

function tiles(
  subgroups: number,
  columns: number,
  bands: MatrixTiles["bands"] = 1,
  split: MatrixTiles["split"] = 1,
): MatrixTiles {
  return { subgroups, bands, split, columns };
}

/** Query or key rows that a workgroup holds. */
export function rowsOf({ subgroups, bands, split }: MatrixTiles): number {
  return (16 * subgroups * bands) / split;
}

/** Bytes of workgroup memory that a kernel asks for. */
function workgroupBytes(pass: MatrixPass, size: number, choice: MatrixTiles): number {
  const rows = rowsOf(choice);
  const row = size / 8 + 1;
  const scores = rows * (choice.columns / 4 + 1);
  const weights = pass === "forward" ? rows * (choice.columns / 8 + 1) : 0;
  const vectors = 2 * choice.columns * row + scores + weights;
  return 16 * vectors + 4 * (pass === "forward" ? rows + 1 : 2 * choice.columns);
}

/** Tiles for a head size, best first, then with ever fewer rows: for few rows, or little workgroup memory. */
export function matrixChoices(pass: MatrixPass, size: number): readonly MatrixTiles[] {
  return CHOICES[pass === "forward" ? pass : "backward"][size] ?? [];
}

/** Tiles that can serve a pass, best first; none where the matrix units do not serve: f32, other sizes, few rows, little memory, few buffers. */
export function matrixFitting(
  { f16, features, commands }: Context,
  pass: MatrixPass,
  { queries, size }: Pick<AttentionSizes, "queries" | "size">,
): MatrixTiles[] {
  if (f16 !== "matrix" || !matrixShape(features)) return [];
  const { maxComputeWorkgroupStorageSize, maxStorageBuffersPerShaderStage } = commands.limits;
  // WebGPU promises 8 buffers; the pass for keys binds 9.
  if (BUFFERS[pass].length > maxStorageBuffersPerShaderStage) return [];
  return matrixChoices(pass, size).filter(
    (choice) =>
      rowsOf(choice) <= queries && workgroupBytes(pass, size, choice) <= maxComputeWorkgroupStorageSize,
  );
}

/** The tiles for one pass: those that were measured to be best, or the first; undefined where none serve. */
export function matrixTiles(
  context: Context,
  pass: MatrixPass,
  sizes: Pick<AttentionSizes, "queries" | "size">,
): MatrixTiles | undefined {
  const fitting = matrixFitting(context, pass, sizes);
  const chosen = context.tuning.attention(pass, sizes.size, sizes.queries);
  // Classes are coarse: what was best for more rows may not fit fewer.
  const found = chosen && fitting.find((tiles) => sameTiles(tiles, chosen));
  return found ?? fitting[0];
}

function sameTiles(a: MatrixTiles, b: MatrixTiles): boolean {
  return a.subgroups === b.subgroups && a.bands === b.bands && a.split === b.split && a.columns === b.columns;
}

/**
 * @param gradients which of dK and dV a dispatch computes
 * @param held whether the buffers that tiles are loaded from may be bound as written (see `Kernel`), which needs each to
 *   be bound once
 */
export function matrixKernel(
  pass: MatrixPass,
  size: number,
  choice: MatrixTiles,
  { gradients = "both", held = true }: { gradients?: "both" | "dk" | "dv"; held?: boolean } = {},
): Kernel {
  const { subgroups, bands, split, columns } = choice;
  const threads = 32 * subgroups;
  const share = threads / rowsOf(choice);
  // Vec4s of each tile that a thread loads.
  const loads = (columns * size) / 8 / threads;
  const ahead = loads <= MOST_AHEAD ? loads : 0;
  const rounds = ahead > 0 ? 0 : Math.ceil(loads / 8);
  const access = (buffer: number) => (held && BUFFERS[pass][buffer] === "h" ? "read_write" : "read");
  const constants = {
    D: size,
    DC: size / 16,
    BK: columns,
    NK: columns / 16,
    ROWS: rowsOf(choice),
    THREADS: threads,
    QM: bands,
    SPLIT: split,
    // Fragments of S and of O side by side in a subgroup.
    SC: columns / 16 / split,
    OC: size / 16 / split,
    LOADS: loads,
    // Backward: loaded while the tile before is worked on, or right before they are needed, some at a time.
    AHEAD: ahead,
    HOLDS: ahead > 0 ? 1 : 0,
    ROUNDS: rounds,
    AT_ONCE: loads / Math.max(1, rounds),
    // Buffers whose loads stay where they stand.
    HELD_K: access(1),
    HELD_Q: access(0),
    // A thread's share of a row of scores, by eights, and how often threads of a row meet to have one value.
    W8: columns / share / 8,
    HALVINGS: Math.log2(share),
    DK: gradients === "dv" ? 0 : 1,
    DV: gradients === "dk" ? 0 : 1,
  };
  const buffers = held ? BUFFERS[pass] : BUFFERS[pass].replaceAll("h", "r");
  return { source: SOURCES[pass], entry: `attention_matrix_${pass}`, buffers, constants };
}

/** Whether each lies in a buffer of its own. */
function apart(...tensors: GpuTensor[]): boolean {
  return new Set(tensors.map(({ buffer }) => buffer)).size === tensors.length;
}

/** What `attention_plan` makes for a pass; the caller frees it. [2 + blocks, 4] */
function plan(
  { memory, commands }: Context,
  pass: MatrixPass,
  choice: MatrixTiles,
  { queries, keys, size }: AttentionSizes,
  rows: GpuTensor,
  scales: readonly GpuTensor[],
): GpuTensor {
  const ofKeys = pass === "dkv";
  const [count, limit] = ofKeys ? [keys, queries] : [queries, keys];
  const blocks = Math.ceil(count / rowsOf(choice));
  const made = memory.allocate([2 + blocks, 4], "u32");
  const forward = pass === "forward" ? 1 : 0;
  commands.dispatch({
    kernel: {
      source: matrixPlan,
      entry: ofKeys ? "attention_plan_keys" : "attention_plan_queries",
      buffers: "wrrrrr".slice(0, 2 + scales.length),
      constants: { ROWS: rowsOf(choice), D: size, FORWARD: forward, BACKWARD: 1 - forward },
    },
    buffers: [made, rows, ...scales],
    groups: Math.ceil(blocks / 64),
    uints: [count, limit, blocks],
    floats: [1 / Math.sqrt(size)],
    work: count,
  });
  return made;
}

/** o [parts,Tq,H,D] and lse [parts,Tq,H] over parts of `part` keys each; Tq ≥ `rowsOf(choice)`. */
export function attendByMatrices(
  context: Context,
  choice: MatrixTiles,
  sizes: AttentionSizes,
  { q, k, v, ranges, o, lse }: Record<"q" | "k" | "v" | "ranges" | "o" | "lse", GpuTensor>,
  [parts, part]: readonly [number, number],
  work: number,
): void {
  const { queries, keys, heads, groups, size } = sizes;
  const [halfQ, halfK, halfV] = [context.half(q), context.half(k), context.half(v)];
  const scales = [halfQ.scale, halfK.scale, halfV.scale];
  const planned = plan(context, "forward", choice, sizes, ranges, scales);
  const blocks = Math.ceil(queries / rowsOf(choice));
  const held = apart(halfQ.values, halfK.values, halfV.values);
  context.commands.dispatch({
    kernel: matrixKernel("forward", size, choice, { held }),
    buffers: [halfQ.values, halfK.values, halfV.values, ranges, planned, o, lse],
    groups: blocks * heads * parts,
    uints: [queries, keys, heads, groups, blocks, parts, part],
    work,
  });
  context.memory.free(planned);
}

/** What the backward kernels read: `stats` [Tq,H,2] is (lse, rowsum(dO ∘ O)). */
export type BackwardInputs = Record<"q" | "k" | "v" | "dout" | "stats", GpuTensor>;

function backwardBuffers(context: Context, { q, k, v, dout, stats }: BackwardInputs) {
  const halves = [q, k, v, dout].map((t) => context.half(t));
  const values = halves.map((half) => half.values);
  return {
    scales: halves.map(({ scale }) => scale),
    buffers: [...values, stats],
    held: apart(...values),
  };
}

export function dqByMatrices(
  context: Context,
  choice: MatrixTiles,
  sizes: AttentionSizes,
  inputs: BackwardInputs,
  ranges: GpuTensor,
  dq: GpuTensor,
  work: number,
): void {
  const { queries, keys, heads, groups, size } = sizes;
  const { scales, buffers, held } = backwardBuffers(context, inputs);
  const planned = plan(context, "dq", choice, sizes, ranges, scales);
  const blocks = Math.ceil(queries / rowsOf(choice));
  context.commands.dispatch({
    kernel: matrixKernel("dq", size, choice, { held }),
    buffers: [...buffers, ranges, planned, dq],
    groups: blocks * heads,
    uints: [queries, keys, heads, groups, blocks],
    work,
  });
  context.memory.free(planned);
}

export function dkvByMatrices(
  context: Context,
  choice: MatrixTiles,
  sizes: AttentionSizes,
  inputs: BackwardInputs,
  queryEnd: GpuTensor,
  dk: GpuTensor,
  dv: GpuTensor,
  work: number,
): void {
  const { queries, keys, heads, groups, size } = sizes;
  const { scales, buffers, held } = backwardBuffers(context, inputs);
  const planned = plan(context, "dkv", choice, sizes, queryEnd, scales);
  const blocks = Math.ceil(keys / rowsOf(choice));
  // At 256 the registers hold one gradient at a time.
  const passes = size > 128 ? (["dv", "dk"] as const) : (["both"] as const);
  for (const gradients of passes) {
    context.commands.dispatch({
      kernel: matrixKernel("dkv", size, choice, { gradients, held }),
      buffers: [...buffers, queryEnd, planned, dk, dv],
      groups: blocks * groups,
      uints: [queries, keys, heads, groups, blocks],
      work: work / passes.length,
    });
  }
  context.memory.free(planned);
}
