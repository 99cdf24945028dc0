import { blockWords } from "../weight-format.ts";
import { type Context, matrixShape } from "./context.ts";
import common from "./half-common.wgsl?raw";
import scalar from "./linear-rows.wgsl?raw";
import matrix from "./linear-rows-matrix.wgsl?raw";
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
/** Rows of a weight from which there are subgroups enough for two rows each. */
const MANY_ROWS = 8192;
/** Outputs from which a workgroup of the matrix kernel has twice as many, and bytes of sums that it may leave. */
const WIDE_OUTPUTS = 4096;
const MOST_SUMS = 32_768;

/** Widens halves through the type f16. Adapters without it do so by their bits. */
const TYPED =
  "fn typed_values(q: vec2u) -> vec4f { return vec4f(vec2f(bitcast<vec2<f16>>(q.x)), vec2f(bitcast<vec2<f16>>(q.y))); }";

/**
 * Products of few rows x [M,K] with weights [N,K], where reading the weights is what takes time. Not on software adapters,
 * and not for every shape and format.
 *
 * @returns null when these products are left to the kernels for many rows
 */
export function multiplyRows(
  context: Context,
  x: GpuTensor,
  weights: readonly GpuTensor[],
): GpuTensor[] | null {
  if (weights.every((w) => inRegisters(context, x, w)))
    return weights.map((w) => multiplyInRegisters(context, x, [w]));
  if (weights.every((w) => byMatrices(context, x, w))) return multiplyByMatrices(context, x, weights);
  return null;
}

/** silu(x · gateᵀ) · (x · upᵀ) in one pass, or null as `multiplyRows`. */
export function multiplyRowsSwiglu(
  context: Context,
  x: GpuTensor,
  gate: GpuTensor,
  up: GpuTensor,
): GpuTensor | null {
  const fits = Math.max(gate.bindingBytes, up.bindingBytes) <= context.bindingLimit;
  return fits && inRegisters(context, x, gate) ? multiplyInRegisters(context, x, [gate, up]) : null;
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
  return !software && units && known && rows > 0 && rows <= MOST_ROWS && k % 128 === 0 && outputs % 16 === 0;
}

/** One weight's product, or with two the gated one. */
function multiplyInRegisters(context: Context, x: GpuTensor, weights: readonly GpuTensor[]): GpuTensor {
  const { commands, features, memory } = context;
  const [rows, k] = x.shape as [number, number];
  const [{ dtype, shape }] = weights as [GpuTensor];
  const outputs = shape[0]!;
  // Where products take f16 operands anyway, the copy of f32 weights takes half the time to read.
  const halves = context.f16 !== undefined && !isExpanded(dtype) ? weights.map((w) => context.half(w)) : null;
  const read = halves?.map(({ values }) => values) ?? weights;
  const shares = Math.ceil(rows / SHARE);
  const share = Math.ceil(rows / shares);
  const each = weights.length === 1 && outputs >= MANY_ROWS && rows <= 2 ? 2 : 1;
  // More sums leave fewer registers for weights that are on their way.
  const rounds = rows <= 4 ? [4, 2] : [2];
  const { group, block, row } = blockWords(dtype, k);
  const y = memory.allocate([rows, outputs], "f32");
  for (const range of rowRanges(context, read))
    commands.dispatch({
      kernel: {
        source: scalarSource,
        entry: "linear_rows",
        buffers: `rw${(halves ? "rr" : "r").repeat(weights.length)}`,
        constants: {
          M: share,
          R: each,
          LANES: features.subgroupSize!,
          SUBGROUPS,
          ROUNDS: rounds.find((n) => k % (8 * features.subgroupSize! * n) === 0) ?? 1,
          WEIGHTS: weights.length,
          SECOND: halves ? 5 : 4,
          FORMAT: read[0]!.dtype,
          EIGHTS: Math.max(1, group / 8),
          BLOCK: block,
          SCALE: halves ? "scaled" : "plain",
          RESULT: weights.length === 1 ? "total0" : "total0 / (1.0 + exp(-total0)) * total1",
          F16: features.f16 ? "enable f16;" : "",
          HALF: features.f16 ? "typed" : "f16",
          TYPED: features.f16 ? TYPED : "",
        },
      },
      buffers: [x, y, ...read.flatMap((w, i) => [rowsOf(w, range), ...(halves ? [halves[i]!.scale] : [])])],
      groups: shares * Math.ceil(range.rows / (SUBGROUPS * each)),
      uints: [range.rows, k / 8, row || k / 8, range.first, outputs, rows, shares],
      work: 2 * rows * range.rows * k * weights.length,
    });
  return y;
}

function multiplyByMatrices(context: Context, x: GpuTensor, weights: readonly GpuTensor[]): GpuTensor[] {
  const { commands, memory, features } = context;
  const [rows, k] = x.shape as [number, number];
  const fragments = Math.ceil(rows / 16);
  // Each subgroup leaves its sums, 1 KiB a fragment, in workgroup memory.
  const subgroups = SUBGROUPS * fragments * 1024 <= features.workgroupStorage ? SUBGROUPS : SUBGROUPS / 2;
  const values = memory.allocate([16 * fragments, k], "f16");
  const scale = memory.allocate([16 * fragments], "f32");
  commands.dispatch({
    kernel: { source: halfSource, entry: "rows_half", buffers: "rww" },
    buffers: [x, values, scale],
    groups: 16 * fragments,
    uints: [rows, k / 8],
    work: 4 * rows * k,
  });
  const products = weights.map((w) => {
    const outputs = w.shape[0]!;
    const weight = context.half(w);
    const y = memory.allocate([rows, outputs], "f32");
    // Two fragments of w for each of x where that leaves enough workgroups, and memory for their sums.
    const sums = 2 * subgroups * fragments * 1024;
    const wide =
      outputs % 32 === 0 && outputs >= WIDE_OUTPUTS && sums <= Math.min(MOST_SUMS, features.workgroupStorage);
    const columns = wide ? 2 : 1;
    commands.dispatch({
      kernel: {
        source: matrix,
        entry: "linear_rows_matrix",
        buffers: "rrrrw",
        constants: {
          FM: fragments,
          FN: columns,
          SUBGROUPS: subgroups,
          ROW: k / 8,
          ROUNDS: k % (64 * subgroups) === 0 ? 4 : 1,
        },
      },
      buffers: [values, weight.values, scale, weight.scale, y],
      groups: outputs / (16 * columns),
      uints: [rows, 0, outputs],
      work: 2 * rows * outputs * k,
    });
    return y;
  });
  memory.free(values);
  memory.free(scale);
  return products;
}
