import type { NormOf } from "../tensor.ts";
import { blockWords } from "../weight-format.ts";
import { type Context, matrixShape } from "./context.ts";
import common from "./half-common.wgsl?raw";
import scalar from "./linear-rows.wgsl?raw";
import matrix from "./linear-rows-matrix.wgsl?raw";
import sums from "./linear-rows-sum.wgsl?raw";
import type { GpuTensor } from "./memory.ts";
import rowsHalf from "./rows-half.wgsl?raw";
import unpacking from "./weight-words.wgsl?raw";
import { isExpanded } from "./weights-half.ts";
import { rowRanges, rowsOf } from "./windows.ts";

const scalarSource = `${unpacking}\n${scalar}`;
const halfSource = `${common}\n${rowsHalf}`;

/**
 * Up to so many rows are multiplied in registers. `matrix`: matrix units take more. `expanded`: they do so too, but the
 * weight has to be expanded for them first. `none`: these products use no matrix units.
 */
const MOST_IN_REGISTERS = { matrix: 4, expanded: 16, none: 64 };
/** Rows whose sums the registers of a thread hold. */
const SHARE = 16;
/** Rows up to which matrix units read each weight once. */
const MOST_ROWS = 64;
const SUBGROUPS = 8;
/**
 * Rows up to which registers have room for the sums of two rows of a weight, so that each value of x is read half as often.
 * With more of them, computing counts too: x is not normed once more for every row of the weights.
 */
const FEW_ROWS = 4;
/** Threads beyond which no more are asked for to read a weight. */
const MANY_THREADS = 2 ** 17;
/** Outputs of a workgroup of the matrix kernel, and the values along k that it takes at a time, as its text has them. */
const TILE = { outputs: 64, step: 64 };
/** Workgroups of it that keep a large GPU busy. */
const ENOUGH_GROUPS = 384;

/** Widens halves through the type f16. Adapters without it do so by their bits. */
const TYPED =
  "fn typed_values(q: vec2u) -> vec4f { return vec4f(vec2f(bitcast<vec2<f16>>(q.x)), vec2f(bitcast<vec2<f16>>(q.y))); }";

export interface RowProducts {
  /** x is normed first. */
  norm?: NormOf<GpuTensor> | undefined;
  /** Of two weights: silu of the first product times the second, in place of both side by side. */
  gated?: boolean;
  /** What the products are added to; a tensor of their own otherwise. */
  onto?: GpuTensor;
}

/**
 * Products of few rows x [M,K] with weights [N,K], side by side [M, ΣN], where reading the weights is what takes time. Not on
 * software adapters, and not for every shape and format.
 *
 * @returns null when these products are left to the kernels for many rows
 */
export function multiplyRows(
  context: Context,
  x: GpuTensor,
  weights: readonly GpuTensor[],
  products: RowProducts = {},
): GpuTensor | null {
  const multiply = kernelFor(context, x, weights);
  if (multiply === undefined) return null;
  const outputs = products.gated ? weights[0]!.shape[0]! : outputsOf(weights);
  const y = products.onto ?? context.memory.allocate([x.shape[0]!, outputs], "f32");
  multiply(context, x, weights, y, products);
  return y;
}

/** Whether `multiplyRows` norms x on the way at no cost. */
export function normsRows(context: Context, x: GpuTensor, weights: readonly GpuTensor[]): boolean {
  const multiply = kernelFor(context, x, weights);
  return multiply === multiplyByMatrices || (multiply === multiplyInRegisters && x.shape[0]! <= FEW_ROWS);
}

function kernelFor(context: Context, x: GpuTensor, weights: readonly GpuTensor[]) {
  if (weights.some(({ dtype }) => dtype !== weights[0]!.dtype)) return undefined;
  if (weights.every((w) => inRegisters(context, x, w))) return multiplyInRegisters;
  const bound = 3 + weights.length <= context.commands.limits.maxStorageBuffersPerShaderStage;
  return bound && weights.every((w) => byMatrices(context, x, w)) ? multiplyByMatrices : undefined;
}

function outputsOf(weights: readonly GpuTensor[]): number {
  return weights.reduce((sum, { shape }) => sum + shape[0]!, 0);
}

/** First column of each weight where they lie side by side. */
function columnsOf(weights: readonly GpuTensor[]): number[] {
  return weights.map((_, i) => outputsOf(weights.slice(0, i)));
}

function resultOf({ gated, onto }: RowProducts, at: string): string {
  const result = gated ? "total0 / (1.0 + exp(-total0)) * total1" : "total0";
  return onto ? `y[${at}] + ${result}` : result;
}

function inRegisters({ features, software, f16 }: Context, x: GpuTensor, { dtype }: GpuTensor): boolean {
  const [rows = 0, k = 0] = x.shape;
  const subgroups = features.subgroups && features.subgroupSize !== undefined;
  const most = MOST_IN_REGISTERS[f16 !== "matrix" ? "none" : isExpanded(dtype) ? "expanded" : "matrix"];
  return !software && subgroups && rows > 0 && rows <= most && k % 8 === 0;
}

function byMatrices({ features, software, f16, bindingLimit }: Context, x: GpuTensor, w: GpuTensor): boolean {
  const [rows = 0, k = 0] = x.shape;
  const outputs = w.shape[0]!;
  const units = f16 === "matrix" && matrixShape(features) !== undefined;
  const known = (w.dtype === "f32" || w.dtype === "f16") && 2 * outputs * k <= bindingLimit;
  // Rows of a tile have 16 bytes more than their values.
  const bytes = (16 * Math.ceil(rows / 16) + TILE.outputs) * (2 * TILE.step + 16);
  const fits = bytes <= features.workgroupStorage && k % TILE.step === 0 && outputs % 16 === 0;
  return !software && units && known && rows > 0 && rows <= MOST_ROWS && fits;
}

/**
 * Subgroups that share a row of a weight: where there are fewer threads than keep a large GPU's memory busy, as long as each
 * of them has two eights of values to read.
 */
function splitOf(threads: number, eights: number): number {
  const wanted = [4, 2].find((split) => threads * split <= MANY_THREADS && eights >= 2 * split);
  return wanted ?? 1;
}

function multiplyInRegisters(
  context: Context,
  x: GpuTensor,
  weights: readonly GpuTensor[],
  y: GpuTensor,
  products: RowProducts,
): void {
  const { commands, features, bindingLimit } = context;
  const { norm, gated = false } = products;
  const [rows, k] = x.shape as [number, number];
  const { dtype } = weights[0]!;
  // Where products take f16 operands anyway, the copy of f32 weights takes half the time to read.
  const halves = context.f16 !== undefined && !isExpanded(dtype) ? weights.map((w) => context.half(w)) : null;
  const read = halves?.map(({ values }) => values) ?? weights;
  const shares = Math.ceil(rows / SHARE);
  const share = Math.ceil(rows / shares);
  const { group, block, row } = blockWords(dtype, k);
  const bindings = halves ? 2 : 1;

  /** Weights of one dispatch: side by side or, where gated, together. */
  function run(parts: readonly { w: number; values: GpuTensor; column: number }[]): void {
    const outputs = outputsOf(parts.map(({ values }) => values));
    const each = !gated && rows <= FEW_ROWS ? 2 : 1;
    const joined = gated ? 1 : parts.length;
    const lanes = features.subgroupSize!;
    const split = rows <= FEW_ROWS ? splitOf((outputs / 2) * lanes, k / 8 / lanes) : 1;
    const groups = parts
      .slice(0, joined)
      .reduce((sum, { values }) => sum + Math.ceil((values.shape[0]! * split) / (SUBGROUPS * each)), 0);
    commands.dispatch({
      kernel: {
        source: scalarSource,
        entry: "linear_rows",
        buffers: `rw${"r".repeat(bindings * parts.length)}${norm ? "r" : ""}`,
        constants: {
          M: share,
          R: each,
          LANES: lanes,
          SUBGROUPS,
          ROUNDS: k % (16 * lanes * split) === 0 ? 2 : 1,
          SPLIT: split,
          SHARED: split > 1 ? 1 : 0,
          JOINED: joined,
          WEIGHTS: parts.length / joined,
          BINDINGS: bindings,
          NORMED: norm ? 1 : 0,
          NORM_AT: 3 + bindings * parts.length,
          FORMAT: read[0]!.dtype,
          EIGHTS: Math.max(1, group / 8),
          BLOCK: block,
          SCALE: halves ? "scaled" : "unscaled",
          RESULT: resultOf(products, "at"),
          F16: features.f16 ? "enable f16;" : "",
          HALF: features.f16 ? "typed" : "f16",
          TYPED: features.f16 ? TYPED : "",
        },
      },
      buffers: [
        ...[x, y],
        ...parts.flatMap(({ w, values }) => [values, ...(halves ? [halves[w]!.scale] : [])]),
        ...(norm ? [norm.weight] : []),
      ],
      groups: shares * groups,
      uints: [
        ...[k / 8, row || k / 8, y.shape[1]!, rows, shares],
        ...parts.slice(0, joined).flatMap(({ values, column }) => [values.shape[0]!, column]),
      ],
      floats: [norm?.epsilon ?? 0, norm?.offset ?? 0],
      work: 2 * rows * outputs * k,
    });
  }

  const columns = columnsOf(weights);
  const all = read.map((values, w) => ({ w, values, column: columns[w]! }));
  if (gated)
    for (const range of rowRanges(context, read))
      run(read.map((values, w) => ({ w, values: rowsOf(values, range), column: range.first })));
  else if (
    all.every(({ values }) => values.bindingBytes <= bindingLimit) &&
    3 + bindings * all.length <= commands.limits.maxStorageBuffersPerShaderStage
  )
    run(all);
  else
    for (const { w, values, column } of all)
      for (const range of rowRanges(context, [values]))
        run([{ w, values: rowsOf(values, range), column: column + range.first }]);
}

function multiplyByMatrices(
  context: Context,
  x: GpuTensor,
  weights: readonly GpuTensor[],
  y: GpuTensor,
  products: RowProducts,
): void {
  const { commands, memory } = context;
  const { norm, gated = false } = products;
  const [rows, k] = x.shape as [number, number];
  const fragments = Math.ceil(rows / 16);
  const values = memory.allocate([16 * fragments, k], "f16");
  const rowScale = memory.allocate([16 * fragments], "f32");
  commands.dispatch({
    kernel: {
      source: halfSource,
      entry: "rows_half",
      buffers: norm ? "rwwr" : "rww",
      constants: {
        VALUE: norm ? "weighed" : "plain",
        RSTD: norm ? "inverseSqrt(found[0].x / f32(8u * P.eights) + P.eps)" : "1.0",
      },
    },
    buffers: [x, values, rowScale, ...(norm ? [norm.weight] : [])],
    groups: 16 * fragments,
    uints: [rows, k / 8],
    floats: [norm?.epsilon ?? 0, norm?.offset ?? 0],
    work: 4 * rows * k,
  });
  const halves = weights.map((w) => context.half(w));
  const outputs = outputsOf(weights);
  const columns = columnsOf(weights);
  const tiles = Math.ceil(outputs / TILE.outputs);
  const steps = k / TILE.step;
  const part = Math.ceil(steps / Math.min(steps, Math.ceil(ENOUGH_GROUPS / tiles)));
  const count = Math.ceil(steps / part);
  const parts = memory.allocate([count, 16 * fragments, outputs], "f32");
  // Tiles do not reach from one weight into the next.
  const together = columns.every((column) => column % TILE.outputs === 0);
  const runs = together
    ? [{ at: 0, of: halves, first: columns, columns: outputs }]
    : halves.map((half, i) => ({
        at: columns[i]!,
        of: [half],
        first: [0],
        columns: weights[i]!.shape[0]!,
      }));
  for (const { at, of, first, columns: here } of runs)
    commands.dispatch({
      kernel: {
        source: matrix,
        entry: "linear_rows_matrix",
        buffers: `rw${"r".repeat(of.length)}`,
        constants: {
          FM: fragments,
          JOINED: of.length,
          ROW: k / 8,
          PARTS_ROW: outputs,
        },
      },
      buffers: [values, parts, ...of.map((half) => half.values)],
      groups: count * Math.ceil(here / TILE.outputs),
      uints: [steps, part, here, Math.ceil(here / TILE.outputs), at, ...first],
      work: 2 * rows * here * k,
    });
  commands.dispatch({
    kernel: {
      source: sums,
      entry: "linear_rows_sum",
      buffers: `rrw${"r".repeat(weights.length)}`,
      constants: {
        JOINED: weights.length,
        PAIRED: gated ? 1 : 0,
        RESULT: resultOf(products, "thread"),
      },
    },
    buffers: [parts, rowScale, y, ...halves.map(({ scale }) => scale)],
    groups: Math.ceil(y.length / 4 / 64),
    uints: [
      ...[count, 16 * fragments, rows, y.shape[1]! / 4, outputs / 4],
      ...columns.map((column) => column / 4),
    ],
    work: (count * rows * outputs) / 2,
  });
  for (const t of [values, rowScale, parts]) memory.free(t);
}
