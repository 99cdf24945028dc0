import type { ProductForm, ProductShape } from "../tuning-shapes.ts";
import { addParts } from "./add-parts.ts";
import type { Kernel } from "./commands.ts";
import { type Context, GROUP, groupsOf } from "./context.ts";
import { distinct, matrixCandidates, multiplyMatrix, refineMatrix } from "./matmul-matrix.ts";
import operandsSource from "./matmul-operands.wgsl?raw";
import type { Operand, Product } from "./matmul-product.ts";
import scalar from "./matmul-scalar.wgsl?raw";
import sharedSource from "./matmul-shared.wgsl?raw";
import tileNN from "./matmul-tile-nn.wgsl?raw";
import tileNT from "./matmul-tile-nt.wgsl?raw";
import tileTN from "./matmul-tile-tn.wgsl?raw";
import type { GpuTensor } from "./memory.ts";
import sumParts from "./sum-parts.wgsl?raw";
import type { ProductChoice, ProductKernel, ProductUnit, SharedKernel } from "./tuning.ts";

/** How an operand is read: f32, or f16 packed two per u32 with its scale. */
interface Source {
  readonly tensor: GpuTensor;
  readonly scale: GpuTensor | undefined;
}

/** Up to this many rows a GPU is better served by many small tiles than by a few shared ones. */
const FEW_ROWS = 16;
/** Workgroups that keep a large GPU busy, and fewer that still do. */
const MANY_GROUPS = 512;
const SOME_GROUPS = 256;
/** f32 sums over more rows than this are taken in parts, for the sake of their last digits. */
const LONGEST_PART = 8192;
const MOST_PART_VALUES = 2 ** 24;

/**
 * What a workgroup of the shared kernel computes of C: 64 or 128 rows and columns. `unroll`: of its 16 values of k, how many
 * are written out one after the other; it divides 16.
 */
interface SharedTile {
  readonly rows: number;
  readonly columns: number;
  readonly unroll: number;
}

/** Workgroup memory of the widest: 16 values of k of both tiles, and a vec4 of padding per row. */
const WIDE_BYTES = 16 * 16 * 2 * (128 / 4 + 1);

/** Measured on an H100: large products gain by the largest tile and by unrolling it, the others lose by either. */
const SHARED_TILES: Readonly<Record<SharedKernel, SharedTile>> = {
  "shared-128x128": { rows: 128, columns: 128, unroll: 16 },
  "shared-128": { rows: 128, columns: 64, unroll: 1 },
  "shared-64": { rows: 64, columns: 64, unroll: 1 },
};

/** All that the kernels of f32 arithmetic are made of, among which there is a choice. */
export const PRODUCT_SOURCES: readonly string[] = [
  operandsSource,
  sharedSource,
  JSON.stringify(SHARED_TILES),
  tileNN,
  tileNT,
  tileTN,
  sumParts,
];

type Sizes = Pick<Product, "m" | "n" | "k">;

const isVec4 = ({ at = 0, row }: Operand): boolean => at % 4 === 0 && row % 4 === 0;
const ceil = (x: number, by: number): number => Math.ceil(x / by);

function vec4Parameters({ a, b, c, m, n, k }: Product): number[] {
  return [m, n, k, (a.at ?? 0) / 4, a.row / 4, (b.at ?? 0) / 4, b.row / 4, c.at ?? 0, c.row];
}

/** C[m,n] = Σ_k A[m,k] · B[n,k]. Rows of A and B have k contiguous. */
export function multiplyNT(context: Context, product: Product): void {
  const { a, b, m, n, k } = product;
  if (m > FEW_ROWS && multiplyMatrix(context, product, "nt")) return;
  const tile = sharedTile(choose(context, "nt", product));
  if (k % 4 !== 0 || !isVec4(a) || !isVec4(b)) {
    multiplyScalar(context, product, [a.row, 1], [b.row, 1], false);
  } else if (tile) {
    multiplyShared(context, product, tile, [1, 1], 1, k);
  } else {
    const [rm, rn] = tileSizes(context, m);
    const constants = { RM: rm, RN: rn };
    dispatchTiles(context, product, "matmul_tile_nt", tileNT, constants, [ceil(m, rm), ceil(n, rn)]);
  }
}

/** After `multiplyNT` of the same product with f16 operands: C as if with twice their bits. */
export function refineNT(context: Context, product: Product): void {
  if (product.m > FEW_ROWS && refineMatrix(context, product)) return;
  multiplyNT({ ...context, f16: undefined }, product);
}

/**
 * C[m,n] = Σ_k A[m,k] · B[k,n]. Rows of A have k contiguous, rows of B n.
 * `padded`: A has zeros from k up to the next multiple of 4.
 */
export function multiplyNN(context: Context, product: Product, padded = false): void {
  const { a, b, m, n, k } = product;
  if (m > FEW_ROWS && multiplyMatrix(context, product, "nn")) return;
  const tile = sharedTile(choose(context, "nn", product));
  if ((k % 4 !== 0 && !padded) || !isVec4(a) || !isVec4(b)) {
    multiplyScalar(context, product, [a.row, 1], [1, b.row], false);
  } else if (tile) {
    multiplyShared(context, product, tile, [1, 0], 1, ceil(k, 4) * 4);
  } else {
    const [rm, rn] = tileSizes(context, m);
    const rn4 = ceil(rn, 4);
    const constants = { RM: rm, RN4: rn4 };
    dispatchTiles(context, product, "matmul_tile_nn", tileNN, constants, [ceil(m, rm), ceil(n, 4 * rn4)]);
  }
}

/** C[m,n] += Σ_k A[k,m] · B[k,n]; k is long (rows of a batch) and summed in parts. C is dense. */
export function accumulateTN(context: Context, product: Product): void {
  const { a, b, c, m, n, k } = product;
  if (m * n === 0 || k === 0) return;
  if (multiplyMatrix(context, product, "tn")) return;
  if (!isVec4(a) || !isVec4(b)) {
    multiplyScalar(context, product, [1, a.row], [1, b.row], true);
    return;
  }
  const { memory } = context;
  const choice = choose(context, "tn", product);
  const shared = sharedTile(choice);
  const wanted = choice.parts ?? partsRule(context, choice.kernel, product);
  const parts = Math.max(Math.min(wanted, mostParts(product)), ceil(k, LONGEST_PART));
  // Whole steps of 16, which is how far the shared kernel goes at a time.
  const part = ceil(ceil(k, parts), 16) * 16;
  const count = ceil(k, part);
  const partial = memory.allocate([count, m, n], "f32");
  const inner = { ...product, c: { tensor: partial, row: n } };
  if (shared) {
    multiplyShared(context, inner, shared, [0, 0], count, part);
  } else {
    const tiles = [ceil(m, 8), ceil(n, 8), count];
    dispatchTiles(context, inner, "matmul_tile_tn", tileTN, { RM4: 2, RN4: 2 }, tiles, [part, count]);
  }
  addParts(context, partial, count, m * n, c.tensor, c.at ?? 0, true);
  memory.free(partial);
}

/** Rows and columns of C a thread: measured best on SwiftShader; on a GPU only for few rows. */
function tileSizes(context: Context, m: number): [number, number] {
  const rows = m === 1 ? 1 : m <= 4 ? 4 : 8;
  return [rows, context.software ? (rows === 8 ? 8 : 4) : rows === 8 ? 4 : 1];
}

/** Small workgroups on a software adapter, which runs one per core. */
function tileGroup({ software }: Context): number {
  return software ? 16 : GROUP;
}

/** f32 operands stay so unless f16 was asked for, or they are stored in it. */
function sourceOf({ half, f16 }: Context, { tensor }: Operand): Source {
  if (tensor.dtype === "f32" && f16 !== "packed") return { tensor, scale: undefined };
  const { values, scale } = half(tensor);
  return { tensor: values, scale };
}

/** A kernel of f32 arithmetic on a product's operands as they are stored, and its buffers. */
function withOperands(
  context: Context,
  { a, b, c }: Product,
  entry: string,
  source: string,
  constants: Readonly<Record<string, number | string>>,
): { kernel: Kernel; buffers: GpuTensor[] } {
  const [from, by] = [sourceOf(context, a), sourceOf(context, b)];
  const scales = [from.scale, by.scale].filter((scale) => scale !== undefined);
  const factors = [...(from.scale ? ["scale_a[0]"] : []), ...(by.scale ? ["scale_b[0]"] : [])];
  const type = (x: Source) => (x.scale ? "vec2u" : "vec4f");
  const values = (x: Source, name: string) =>
    x.scale ? `vec4f(unpack2x16float(${name}[i].x), unpack2x16float(${name}[i].y))` : `${name}[i]`;
  return {
    kernel: {
      source: `${operandsSource}\n${source}`,
      entry,
      buffers: scales.length > 0 ? "rrwrr" : "rrw",
      constants: {
        ...constants,
        HALF: scales.length > 0 ? 1 : 0,
        A_TYPE: type(from),
        B_TYPE: type(by),
        A_VALUES: values(from, "A"),
        B_VALUES: values(by, "B"),
        SCALE: factors.length > 0 ? factors.join(" * ") : "1.0",
      },
    },
    // Where only one operand has a scale, the other's is bound and not read.
    buffers: [
      from.tensor,
      by.tensor,
      c.tensor,
      ...(scales.length > 0 ? [from.scale ?? scales[0]!, by.scale ?? scales[0]!] : []),
    ],
  };
}

function dispatchTiles(
  context: Context,
  product: Product,
  entry: string,
  source: string,
  constants: Readonly<Record<string, number>>,
  tiles: readonly number[],
  more: readonly number[] = [],
): void {
  const threads = tiles.reduce((x, y) => x * y, 1);
  const group = tileGroup(context);
  context.commands.dispatch({
    ...withOperands(context, product, entry, source, { ...constants, GROUP: group }),
    groups: ceil(threads, group),
    uints: [...vec4Parameters(product), ...more],
    work: 2 * product.m * product.n * product.k,
  });
}

/** Which operands a backend's products multiply. */
export function unitOf({ f16 }: Pick<Context, "f16">): ProductUnit {
  return f16 ?? "f32";
}

/** The kernels of f32 arithmetic serve f16 backends' other products too, as if for f32. */
const f32Unit = ({ f16 }: Context): ProductUnit => (f16 === "packed" ? "packed" : "f32");

function choose(context: Context, form: ProductForm, { m, n, k }: Product): ProductChoice {
  // Few rows have a kernel of their own.
  if (form !== "tn" && m <= FEW_ROWS) return { kernel: "tile" };
  return (
    context.tuning.product(f32Unit(context), form, m, n, k) ?? {
      kernel: kernelRule(context, form, { m, n, k }),
    }
  );
}

function kernelRule({ matmul }: Context, form: ProductForm, { m, n, k }: Sizes): ProductKernel {
  if (matmul !== "shared") return matmul;
  const square = SHARED_TILES["shared-128x128"];
  const parts = form === "tn" ? mostParts({ m, n, k }) : 1;
  const groups = ceil(m, square.rows) * ceil(n, square.columns) * parts;
  if (groups >= SOME_GROUPS && Math.min(m, n, k) >= 512) return "shared-128x128";
  return m >= 512 ? "shared-128" : "shared-64";
}

/** Of form `tn`. */
function partsRule(context: Context, kernel: ProductKernel, { m, n }: Sizes): number {
  const tile = sharedTile({ kernel });
  if (tile) return ceil(MANY_GROUPS, ceil(m, tile.rows) * ceil(n, tile.columns));
  return ceil(context.software ? 256 : 32768, ceil(m, 8) * ceil(n, 8));
}

const mostParts = ({ m, n, k }: Sizes): number =>
  Math.max(1, Math.min(ceil(k, 128), Math.floor(MOST_PART_VALUES / (m * n))));

/** What may be measured against each other for a product, the rule's choice first; of few rows nothing. */
export function productCandidates(context: Context, shape: ProductShape): ProductChoice[] {
  const { form, m, n, k } = shape;
  if ((form !== "tn" && m <= FEW_ROWS) || m * n * k === 0 || [m, n, k].some((size) => size % 4 !== 0))
    return [];
  if (context.f16 === "matrix") return matrixCandidates(context, shape);
  const rule = kernelRule(context, form, shape);
  const { matmul, features } = context;
  if (matmul !== "shared" && matmul !== "tile") return [{ kernel: rule }];
  const kernels: ProductKernel[] = ["shared-128", "shared-64", "tile"];
  // It takes longest to compile, and gains only where there are some of its tiles.
  if (Math.min(m, n, k) >= 256 && features.workgroupStorage >= WIDE_BYTES) kernels.push("shared-128x128");
  const found: ProductChoice[] = [];
  for (const kernel of [rule, ...kernels]) {
    if (context.matmulFixed && (kernel === "tile") !== (rule === "tile")) continue;
    if (form !== "tn") found.push({ kernel });
    else
      for (const factor of [1, 0.5, 2, 4])
        found.push({ kernel, parts: Math.round(partsRule(context, kernel, shape) * factor) });
  }
  return distinct(found, mostParts(shape));
}

/** The shared kernel's tile of C, or undefined for another kernel. */
function sharedTile({ kernel }: ProductChoice): SharedTile | undefined {
  return kernel in SHARED_TILES ? SHARED_TILES[kernel as SharedKernel] : undefined;
}

/** `aK`, `bK`: 1 where k runs along the rows of A, of B. */
function multiplyShared(
  context: Context,
  product: Product,
  { rows, columns, unroll }: SharedTile,
  [aK, bK]: [number, number],
  parts: number,
  part: number,
): void {
  const { m, n, k } = product;
  const [tm4, tn4] = [rows / 64, columns / 64];
  const constants = {
    BM: rows,
    BN: columns,
    TM4: tm4,
    TN4: tn4,
    A_K: aK,
    B_K: bK,
    UNROLL: unroll,
  };
  context.commands.dispatch({
    ...withOperands(context, product, "matmul_shared", sharedSource, constants),
    groups: ceil(m, rows) * ceil(n, columns) * parts,
    uints: [...vec4Parameters(product), part, parts],
    work: 2 * m * n * k,
  });
}

function multiplyScalar(
  { commands }: Context,
  { a, b, c, m, n, k }: Product,
  [aM, aK]: [number, number],
  [bN, bK]: [number, number],
  accumulate: boolean,
): void {
  for (const { tensor } of [a, b])
    if (tensor.dtype !== "f32")
      throw new Error(`a ${tensor.dtype} operand of [${tensor.shape.join(",")}] needs rows of whole vec4s`);
  commands.dispatch({
    kernel: { source: scalar, entry: "matmul_scalar", buffers: "rrw" },
    buffers: [a.tensor, b.tensor, c.tensor],
    groups: groupsOf(m * n),
    uints: [m, n, k, a.at ?? 0, aM, aK, b.at ?? 0, bN, bK, c.at ?? 0, c.row, accumulate ? 1 : 0],
    work: 2 * m * n * k,
  });
}
