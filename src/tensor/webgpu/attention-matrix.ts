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

/** Best first, as measured on an H200; the first that fits is taken. */
const PREFERRED: Record<MatrixPass, Record<number, readonly MatrixTiles[]>> = {
  forward: {
    32: [tiles(4, 64, "registers")],
    64: [tiles(4, 32, "registers")],
    128: [tiles(8, 32, "registers"), tiles(4, 32, "registers")],
    256: [tiles(4, 32, "registers")],
  },
  dq: {
    32: [tiles(4, 64, "registers")],
    64: [tiles(4, 32, "registers")],
    128: [tiles(8, 32, "registers")],
    256: [tiles(4, 32, "registers")],
  },
  dkv: {
    32: [tiles(4, 64, "registers")],
    64: [tiles(4, 32, "registers")],
    128: [tiles(8, 32, "registers")],
    256: [tiles(4, 32, "registers")],
  },
};

const SOURCES: Record<MatrixPass, string> = {
  forward: `${matrixCommon}\n${matrixForward}`,
  dq: `${matrixCommon}\n${matrixBackward}\n${matrixDq}`,
  dkv: `${matrixCommon}\n${matrixBackward}\n${matrixDkv}`,
};
export const ATTENTION_SOURCES: readonly string[] = [...Object.values(SOURCES), matrixPlan];
/** Letters of each kernel's buffers (see `Kernel`). */
const BUFFERS: Record<MatrixPass, string> = { forward: "rrrrrww", dq: "rrrrrrrw", dkv: "rrrrrrrww" };

function tiles(subgroups: number, columns: number, operand: MatrixTiles["operand"]): MatrixTiles {
  return { subgroups, bands: 1, columns, operand };
}

/** Query or key rows that a workgroup holds. */
export function rowsOf({ subgroups, bands }: MatrixTiles): number {
  return 16 * subgroups * bands;
}

/** Bytes of workgroup memory that a kernel asks for. */
function workgroupBytes(pass: MatrixPass, size: number, choice: MatrixTiles): number {
  const rows = rowsOf(choice);
  const row = size / 8 + 1;
  const scores = rows * (choice.columns / 4 + 1);
  const held = choice.operand === "shared" ? rows * row : 0;
  const vectors = 2 * choice.columns * row + scores + held;
  return 16 * vectors + 4 * (pass === "forward" ? rows + 1 : 2 * choice.columns);
}

/** Tiles for a head size, best first, then with ever fewer rows: for few rows, or little workgroup memory. */
export function matrixChoices(pass: MatrixPass, size: number): MatrixTiles[] {
  const preferred = PREFERRED[pass][size] ?? [];
  const last = preferred.at(-1);
  if (!last) return [];
  const smaller = [4, 2, 1].filter((subgroups) => subgroups < last.subgroups);
  return [...preferred, ...smaller.map((subgroups) => ({ ...last, subgroups }))];
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
  return (
    a.subgroups === b.subgroups && a.bands === b.bands && a.columns === b.columns && a.operand === b.operand
  );
}

/** `gradients`: which of dK and dV a dispatch computes. */
export function matrixKernel(
  pass: MatrixPass,
  size: number,
  choice: MatrixTiles,
  gradients: "both" | "dk" | "dv" = "both",
): Kernel {
  const { subgroups, bands, columns, operand } = choice;
  const threads = 32 * subgroups;
  const loads = (columns * size) / 8 / threads;
  const rounds = Math.ceil(loads / 8);
  const constants = {
    D: size,
    DC: size / 16,
    BK: columns,
    NK: columns / 16,
    ROWS: rowsOf(choice),
    THREADS: threads,
    QM: bands,
    // Vec4s of each tile that a thread loads: as many at once as registers are free.
    ROUNDS: rounds,
    LOADS: loads / rounds,
    // A thread's share of a row of scores, by eights.
    W8: (columns * bands) / 16,
    PAIRED: bands === 1 ? 1 : 0,
    Q_SHARED: operand === "shared" ? 1 : 0,
    A_REGISTERS: operand === "registers" ? 1 : 0,
    A_STORAGE: operand === "storage" ? 1 : 0,
    DK: gradients === "dv" ? 0 : 1,
    DV: gradients === "dk" ? 0 : 1,
  };
  return { source: SOURCES[pass], entry: `attention_matrix_${pass}`, buffers: BUFFERS[pass], constants };
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
  context.commands.dispatch({
    kernel: matrixKernel("forward", size, choice),
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
  return { scales: halves.map(({ scale }) => scale), buffers: [...halves.map((h) => h.values), stats] };
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
  const { scales, buffers } = backwardBuffers(context, inputs);
  const planned = plan(context, "dq", choice, sizes, ranges, scales);
  const blocks = Math.ceil(queries / rowsOf(choice));
  context.commands.dispatch({
    kernel: matrixKernel("dq", size, choice),
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
  const { scales, buffers } = backwardBuffers(context, inputs);
  const planned = plan(context, "dkv", choice, sizes, queryEnd, scales);
  const blocks = Math.ceil(keys / rowsOf(choice));
  // At 256 the registers hold one gradient at a time.
  const passes = size > 128 ? (["dv", "dk"] as const) : (["both"] as const);
  for (const gradients of passes) {
    context.commands.dispatch({
      kernel: matrixKernel("dkv", size, choice, gradients),
      buffers: [...buffers, queryEnd, planned, dk, dv],
      groups: blocks * groups,
      uints: [queries, keys, heads, groups, blocks],
      work: work / passes.length,
    });
  }
  context.memory.free(planned);
}
