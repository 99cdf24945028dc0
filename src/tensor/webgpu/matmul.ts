import type { Kernel } from "./commands.ts";
import { type Context, GROUP, groupsOf } from "./context.ts";
import scalar from "./matmul-scalar.wgsl?raw";
import shared from "./matmul-shared.wgsl?raw";
import tileNN from "./matmul-tile-nn.wgsl?raw";
import tileNT from "./matmul-tile-nt.wgsl?raw";
import tileTN from "./matmul-tile-tn.wgsl?raw";
import type { GpuTensor } from "./memory.ts";
import sumParts from "./sum-parts.wgsl?raw";

/** A matrix inside a tensor: its first value, and the values from one row to the next. */
export interface Operand {
  readonly tensor: GpuTensor;
  readonly at?: number;
  readonly row: number;
}

export interface Product {
  readonly a: Operand;
  readonly b: Operand;
  readonly c: Operand;
  readonly m: number;
  readonly n: number;
  readonly k: number;
}

/** Up to this many rows a GPU is better served by many small tiles than by a few shared ones. */
const FEW_ROWS = 16;
/** Workgroups that keep a large GPU busy. */
const MANY_GROUPS = 512;
/** f32 sums over more rows than this are taken in parts, for the sake of their last digits. */
const LONGEST_PART = 8192;
const MOST_PART_VALUES = 2 ** 24;

const isVec4 = ({ at = 0, row }: Operand): boolean => at % 4 === 0 && row % 4 === 0;
const ceil = (x: number, by: number): number => Math.ceil(x / by);

function vec4Parameters({ a, b, c, m, n, k }: Product): number[] {
  return [m, n, k, (a.at ?? 0) / 4, a.row / 4, (b.at ?? 0) / 4, b.row / 4, c.at ?? 0, c.row];
}

/** C[m,n] = Σ_k A[m,k] · B[n,k]. Rows of A and B have k contiguous. */
export function multiplyNT(context: Context, product: Product): void {
  const { a, b, m, n, k } = product;
  if (k % 4 !== 0 || !isVec4(a) || !isVec4(b)) {
    multiplyScalar(context, product, [a.row, 1], [b.row, 1], false);
  } else if (context.matmul === "shared" && m > FEW_ROWS) {
    multiplyShared(context, product, 1, 1, 1, k);
  } else {
    const [rm, rn] = tileSizes(context, m);
    const constants = { GROUP: tileGroup(context), RM: rm, RN: rn };
    dispatchTiles(context, product, { source: tileNT, entry: "matmul_tile_nt", buffers: "rrw", constants }, [
      ceil(m, rm),
      ceil(n, rn),
    ]);
  }
}

/**
 * C[m,n] = Σ_k A[m,k] · B[k,n]. Rows of A have k contiguous, rows of B n.
 * `padded`: A has zeros from k up to the next multiple of 4.
 */
export function multiplyNN(context: Context, product: Product, padded = false): void {
  const { a, b, m, n, k } = product;
  if ((k % 4 !== 0 && !padded) || !isVec4(a) || !isVec4(b)) {
    multiplyScalar(context, product, [a.row, 1], [1, b.row], false);
  } else if (context.matmul === "shared" && m > FEW_ROWS) {
    multiplyShared(context, product, 1, 0, 1, ceil(k, 4) * 4);
  } else {
    const [rm, rn] = tileSizes(context, m);
    const rn4 = ceil(rn, 4);
    const constants = { GROUP: tileGroup(context), RM: rm, RN4: rn4 };
    dispatchTiles(context, product, { source: tileNN, entry: "matmul_tile_nn", buffers: "rrw", constants }, [
      ceil(m, rm),
      ceil(n, 4 * rn4),
    ]);
  }
}

/** C[m,n] += Σ_k A[k,m] · B[k,n]; k is long (rows of a batch) and summed in parts. C is dense. */
export function accumulateTN(context: Context, product: Product): void {
  const { a, b, c, m, n, k } = product;
  if (m * n === 0 || k === 0) return;
  if (!isVec4(a) || !isVec4(b)) {
    multiplyScalar(context, product, [1, a.row], [1, b.row], true);
    return;
  }
  const { memory } = context;
  const useShared = context.matmul === "shared";
  const [bm, bn] = sharedSizes(m);
  const tiles = useShared ? ceil(m, bm) * ceil(n, bn) : ceil(m, 8) * ceil(n, 8);
  const wanted = useShared ? ceil(MANY_GROUPS, tiles) : ceil(context.software ? 256 : 32768, tiles);
  const most = Math.max(1, Math.min(ceil(k, 128), Math.floor(MOST_PART_VALUES / (m * n))));
  const parts = Math.max(Math.min(wanted, most), ceil(k, LONGEST_PART));
  // Whole steps of 16, which is how far the shared kernel goes at a time.
  const part = ceil(ceil(k, parts), 16) * 16;
  const count = ceil(k, part);
  const partial = memory.allocate([count, m, n], "f32");
  const inner = { ...product, c: { tensor: partial, row: n } };
  if (useShared) {
    multiplyShared(context, inner, 0, 0, count, part);
  } else {
    const constants = { GROUP: tileGroup(context), RM4: 2, RN4: 2 };
    const kernel = { source: tileTN, entry: "matmul_tile_tn", buffers: "rrw", constants };
    dispatchTiles(context, inner, kernel, [ceil(m, 8), ceil(n, 8), count], [part, count]);
  }
  addParts(context, partial, count, m * n, c.tensor, c.at ?? 0, true);
  memory.free(partial);
}

/** y[at + i] (+)= Σ_s parts[s, i], i < count */
export function addParts(
  { commands }: Context,
  parts: GpuTensor,
  partCount: number,
  count: number,
  y: GpuTensor,
  at: number,
  accumulate: boolean,
): void {
  commands.dispatch({
    kernel: { source: sumParts, entry: "sum_parts", buffers: "rw" },
    buffers: [parts, y],
    groups: groupsOf(count),
    uints: [count, partCount, accumulate ? 1 : 0, at],
    work: partCount * count,
  });
}

/** Rows and columns of C a thread: measured best on SwiftShader; on a GPU only for few rows. */
function tileSizes(context: Context, m: number): [number, number] {
  const rows = m === 1 ? 1 : m <= 4 ? 4 : 8;
  return [rows, context.software ? (rows === 8 ? 8 : 4) : rows === 8 ? 4 : 1];
}

/** Small workgroups on a software adapter, which runs one a core. */
function tileGroup({ software }: Context): number {
  return software ? 16 : GROUP;
}

function dispatchTiles(
  context: Context,
  product: Product,
  kernel: Kernel,
  tiles: readonly number[],
  more: readonly number[] = [],
): void {
  const threads = tiles.reduce((x, y) => x * y, 1);
  context.commands.dispatch({
    kernel,
    buffers: [product.a.tensor, product.b.tensor, product.c.tensor],
    groups: ceil(threads, tileGroup(context)),
    uints: [...vec4Parameters(product), ...more],
    work: 2 * product.m * product.n * product.k,
  });
}

function sharedSizes(m: number): [number, number] {
  return [m >= 512 ? 128 : 64, 64];
}

function multiplyShared(
  { commands }: Context,
  product: Product,
  aK: number,
  bK: number,
  parts: number,
  part: number,
): void {
  const { a, b, c, m, n, k } = product;
  const [bm, bn] = sharedSizes(m);
  commands.dispatch({
    kernel: {
      source: shared,
      entry: "matmul_shared",
      buffers: "rrw",
      constants: { BM: bm, BN: bn, TM4: bm / 64, TN4: bn / 64, A_K: aK, B_K: bK },
    },
    buffers: [a.tensor, b.tensor, c.tensor],
    groups: ceil(m, bm) * ceil(n, bn) * parts,
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
  commands.dispatch({
    kernel: { source: scalar, entry: "matmul_scalar", buffers: "rrw" },
    buffers: [a.tensor, b.tensor, c.tensor],
    groups: groupsOf(m * n),
    uints: [m, n, k, a.at ?? 0, aM, aK, b.at ?? 0, bN, bK, c.at ?? 0, c.row, accumulate ? 1 : 0],
    work: 2 * m * n * k,
  });
}
