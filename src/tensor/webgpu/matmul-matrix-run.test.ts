/**
 * The matrix kernel, and what it is called with, run on the processor: the text compiles on any machine, but few have the
 * units that would show that it multiplies.
 */
import { afterAll, beforeAll, describe, expect, test, vi } from "vitest";
import { randomValues } from "../../../test/random.ts";
import { type Piece, runKernel } from "../../../test/support/subgroup-matrices.ts";
import { openNullGpu } from "../../../test/webgpu.ts";
import type { ProductForm } from "../tuning-shapes.ts";
import { Commands, type Dispatch } from "./commands.ts";
import type { Context } from "./context.ts";
import { type ComputeDevice, DeviceHealth, requestDevice } from "./device.ts";
import { createHalf, type Panels } from "./half.ts";
import { multiplyMatrix, refineMatrix } from "./matmul-matrix.ts";
import { type GpuTensor, Memory } from "./memory.ts";
import { type ProductKernel, productClass, Tuning } from "./tuning.ts";
import { specialise } from "./wgsl.ts";

/** Values of f32 matrices, and what kernels read and write. */
const matrices = new Map<GpuTensor, Float32Array>();
const pieces = new Map<GpuTensor, Piece[]>();
const scales = new Map<GpuTensor, number[]>();
const UNIFORMS = ["M", "N", "tiles", "part", "parts", "a_at", "a_panel", "b_at", "b_panel", "c_at"];
/** Rows and columns of panels are padded to this. */
const PADDING = 128;

let compute: ComputeDevice;
let memory: Memory;
let context: Context;
let launched: string[] = [];
beforeAll(async () => {
  compute = await requestDevice(await openNullGpu());
  memory = new Memory(compute.device);
  const commands = new Commands(compute, new DeviceHealth(compute.device, () => ""));
  vi.spyOn(commands, "dispatch").mockImplementation(run);
  const fragments = [16, 8].map((n) => ({ m: 16, n, k: 16 }));
  context = {
    ...{ memory, commands, bindingLimit: 2 ** 31, software: false, matmul: "shared", matmulFixed: false },
    ...{ tuning: new Tuning(), f16: "matrix", half: createHalf(memory, commands).half },
    features: { ...compute.features, matrices: fragments, workgroupStorage: 49_152 },
    // Whole numbers are what is left by a cast, and fractions what is lost.
    panels: (tensor, _, columns) => panelsOf(tensor, columns, Math.round),
    lostPanels: (tensor, _, columns) => panelsOf(tensor, columns, (x) => x - Math.round(x)),
  };
});
afterAll(() => compute.device.destroy());

function panelsOf(tensor: GpuTensor, columns: number, cast: (x: number) => number): Panels {
  const source = matrices.get(tensor)!;
  const rows = Math.ceil(source.length / columns / PADDING) * PADDING;
  const values = new Float32Array(rows * Math.ceil(columns / PADDING) * PADDING);
  source.forEach((x, i) => {
    const [row, column] = [Math.floor(i / columns), i % columns];
    // Rows of eight in the order 0 4 1 5 2 6 3 7.
    const slot = (row & ~7) | ((row & 3) << 1) | ((row >> 2) & 1);
    values[(Math.floor(column / 32) * rows + slot) * 32 + (column % 32)] = cast(x);
  });
  const [copy, scale] = [memory.allocate([values.length], "f16"), memory.allocate([1], "f32")];
  pieces.set(
    copy,
    Array.from({ length: values.length / 8 }, (_, i) => [...values.subarray(8 * i, 8 * i + 8)]),
  );
  scales.set(scale, [0.5]);
  return { values: copy, scale, rows, once: true };
}

const written = (tensor: GpuTensor): Piece[] => {
  let found = pieces.get(tensor);
  if (!found) {
    // A new tensor holds what others left.
    found = Array.from({ length: tensor.length / 4 }, () => new Array(4).fill(Number.NaN));
    pieces.set(tensor, found);
  }
  return found;
};

function run({ kernel, buffers, groups, uints = [] }: Dispatch): void {
  launched.push(kernel.entry);
  if (kernel.entry === "sum_parts") {
    const [from, to] = [written(buffers[0]!).flat(), written(buffers[1]!)];
    const [count = 0, many = 0, , at = 0] = uints;
    for (let i = 0; i < count; i++) {
      const target = at + i;
      for (let s = 0; s < many; s++) to[target >> 2]![target & 3]! += from[s * count + i]!;
    }
    return;
  }
  const [left, right, scaleA, scaleB, c] = buffers;
  const P = { base: 0, ...Object.fromEntries(UNIFORMS.map((name, i) => [name, uints[i]!])) };
  const bound = { P, A: pieces.get(left!)!, B: pieces.get(right!)!, C: written(c!) };
  runKernel(
    specialise(kernel.source, kernel.constants ?? {}),
    kernel.entry,
    { ...bound, scale_a: scales.get(scaleA!)!, scale_b: scales.get(scaleB!)! },
    groups,
  );
}

function matrix(rows: number, columns: number, seed: number, fractions: boolean): GpuTensor {
  const tensor = memory.allocate([rows, columns], "f32");
  const whole = randomValues(rows * columns, seed, 4).map(Math.round);
  const rest = randomValues(rows * columns, seed + 1, 4).map((x) => Math.round(x) / 16);
  matrices.set(tensor, fractions ? whole.map((x, i) => x + rest[i]!) : whole);
  return tensor;
}

/** The product and what was there before, `at` columns into a wider matrix of ones. */
function check(
  form: ProductForm,
  [m, n, k]: readonly [number, number, number],
  fine: boolean,
  kernel: ProductKernel,
  parts?: number,
): void {
  context.tuning.setProduct(productClass("matrix", { form, m, n, k }), {
    kernel,
    ...(parts === undefined ? {} : { parts }),
  });
  const a = form === "tn" ? matrix(k, m, 1, fine) : matrix(m, k, 1, fine);
  const b = form === "nt" ? matrix(n, k, 3, fine) : matrix(k, n, 3, fine);
  // A split sum needs C in one piece.
  const [at, row] = form === "tn" ? [0, n] : [8, n + 12];
  const c = memory.allocate([m, row], "f32");
  const before = randomValues(m * row, 5, 9).map(Math.round);
  pieces.set(
    c,
    Array.from({ length: (m * row) / 4 }, (_, i) => [...before.subarray(4 * i, 4 * i + 4)]),
  );
  const product = {
    a: { tensor: a, row: a.shape[1]! },
    b: { tensor: b, row: b.shape[1]! },
    ...{ c: { tensor: c, at, row }, m, n, k },
  };
  launched = [];
  expect(multiplyMatrix(context, product, form)).toBe(true);
  if (fine) expect(refineMatrix(context, product)).toBe(true);
  const found = Float32Array.from(written(c).flat());
  const [left, right] = [matrices.get(a)!, matrices.get(b)!];
  const expected = before.slice();
  for (let i = 0; i < m; i++)
    for (let j = 0; j < n; j++) {
      let sum = 0;
      for (let t = 0; t < k; t++) {
        const [x, y] = [
          left[form === "tn" ? t * m + i : i * k + t]!,
          right[form === "nt" ? j * k + t : t * n + j]!,
        ];
        // Of two halves each, all but the product of what both lost.
        const lost = (x - Math.round(x)) * (y - Math.round(y));
        sum += fine ? x * y - lost : x * y;
      }
      const place = i * row + at + j;
      expected[place] = 0.25 * sum + (form === "tn" ? before[place]! : 0);
    }
  expect(found).toEqual(expected);
  memory.free(a);
  memory.free(b);
  memory.free(c);
}

describe.each(["nt", "nn", "tn"] as const)("form %s", (form) => {
  test.each([
    ["whole small tiles", "small", [64, 128, 64]],
    ["small tiles with tails", "small", [68, 100, 36]],
    ["less than a tile", "small", [20, 12, 4]],
    ["whole large tiles, 16 k-tiles to a round", "large", [128, 128, 512]],
    ["large tiles with tails", "large", [132, 140, 40]],
  ] as const)("%s", (_, kernel, shape) => check(form, shape, false, kernel));
});

test("a sum in parts", () => {
  check("tn", [64, 64, 1536], false, "small", 3);
  expect(launched).toEqual(["matmul_matrix", "sum_parts"]);
});

test("what the casts lost is added", () => {
  check("nt", [68, 68, 36], true, "small");
  expect(launched).toEqual(["matmul_matrix", "matmul_matrix", "matmul_matrix"]);
});

test("a name that is read before it is set is found", () => {
  const text =
    "const THREADS = 32u;\nconst TILES_SIZE = 1u;\n@compute @workgroup_size(THREADS)\nfn f(x: u32) {\n";
  expect(() => runKernel(`${text}{ let m0 = m0 + 1u; }\n}`, "f", { P: {} }, 1)).toThrow(ReferenceError);
});
