import type { ProductForm, ProductShape } from "../tuning-shapes.ts";
import { addParts } from "./add-parts.ts";
import type { Context } from "./context.ts";
import type { Panels } from "./half.ts";
import source from "./matmul-matrix.wgsl?raw";
import type { Operand, Product } from "./matmul-product.ts";
import type { ProductChoice } from "./tuning.ts";

export const MATRIX_SOURCE: string = source;

/** A tile of C, and the subgroups that share it. */
export interface MatrixTile {
  readonly bm: number;
  readonly bn: number;
  readonly subM: number;
  readonly subN: number;
}

/** Measured on an H200: 64 × 64 of C a subgroup is best for large products, many small tiles for small ones. */
export const MATRIX_TILES = {
  large: { bm: 128, bn: 128, subM: 2, subN: 2 },
  small: { bm: 64, bn: 64, subM: 2, subN: 2 },
} as const satisfies Record<string, MatrixTile>;

/** Large tiles are taken from this many on: most of the multiprocessors of a large GPU. */
const ENOUGH_TILES = 100;
/** Bytes that a workgroup shares at a time for a large tile. */
const LARGE_TILE_STORAGE = 20480;
/** Tiles of 32 k that the inner loop goes through where they come in such numbers. */
const NEST = 16;
/** Workgroups that a reduction is split into where there are few tiles. */
const WANTED_TILES = 256;
/** Rows of k that are worth a part of their own. */
const SHORTEST_PART = 512;
const MOST_PART_VALUES = 2 ** 26;

const ceil = (x: number, by: number): number => Math.ceil(x / by);

/**
 * The constants of matmul-matrix.wgsl. `direct`: whole tiles are stored at once; `through`: by way of shared
 * memory. `deep`: every part is a multiple of 512 k. `columns`: of a fragment of B and of C.
 */
export function matrixConstants(
  form: ProductForm,
  tile: MatrixTile,
  row: number,
  stores: { direct: boolean; through: boolean; accumulate: boolean },
  deep: boolean,
  columns: 8 | 16 = 16,
): Record<string, number | string> {
  const { bm, bn, subM, subN } = tile;
  const [aK, bK] = [form !== "tn", form === "nt"];
  const threads = 32 * subM * subN;
  return {
    BM: bm,
    BN: bn,
    SUB_M: subM,
    SUB_N: subN,
    FM: bm / subM / 16,
    FN: bn / subN / columns,
    NB: columns,
    A_K: aK ? 1 : 0,
    B_K: bK ? 1 : 0,
    A_LOADS: (bm * 4) / threads,
    B_LOADS: (bn * 4) / threads,
    A_ORDER: aK ? "row_major" : "col_major",
    B_ORDER: bK ? "col_major" : "row_major",
    C_ROW: row / 4,
    DIRECT: stores.direct ? 1 : 0,
    THROUGH: stores.through ? 1 : 0,
    COUNTED: deep ? 0 : 1,
    NESTED: deep ? 1 : 0,
    OUT_LOADS: (16 * bn) / subN / 4 / 32,
    ADDS: stores.accumulate ? 1 : 0,
  };
}

const mostParts = ({ m, n, k }: Pick<Product, "m" | "n" | "k">): number =>
  Math.min(Math.floor(k / SHORTEST_PART), Math.floor(MOST_PART_VALUES / (m * n)));

const hasLarge = ({ features }: Context): boolean => features.workgroupStorage >= LARGE_TILE_STORAGE;

/**
 * Fragments of 16 × 8, which on an H200 leave registers for what gradients are added to: 300 to 312 TFLOP/s in place of
 * 288 to 295 with those of 16 × 16.
 */
const hasNarrow = ({ features }: Context): boolean =>
  features.matrices.some(({ m, n, k }) => m === 16 && n === 8 && k === 16);

const partsRule = (kernel: "large" | "small", m: number, n: number): number =>
  ceil(WANTED_TILES, ceil(m, MATRIX_TILES[kernel].bm) * ceil(n, MATRIX_TILES[kernel].bn));

/** What is taken where nothing was measured. */
function matrixRule(
  context: Context,
  { m, n }: Pick<Product, "m" | "n">,
  form: ProductForm,
): ProductChoice & { kernel: "large" | "small" } {
  const { large } = MATRIX_TILES;
  const isLarge = ceil(m, large.bm) * ceil(n, large.bn) >= ENOUGH_TILES && hasLarge(context);
  const kernel = isLarge ? "large" : "small";
  return form === "tn" ? { kernel, parts: partsRule(kernel, m, n) } : { kernel };
}

/** What may be measured against each other, the rule's choice first. */
export function matrixCandidates(context: Context, shape: ProductShape): ProductChoice[] {
  const { form, m, n } = shape;
  const rule = matrixRule(context, shape, form);
  const found: ProductChoice[] = [rule];
  for (const kernel of hasLarge(context) ? (["large", "small"] as const) : (["small"] as const)) {
    if (form !== "tn") found.push({ kernel });
    else
      for (const factor of [0.5, 1, 2, 4])
        found.push({ kernel, parts: Math.round(partsRule(kernel, m, n) * factor) });
  }
  return distinct(found, Math.max(1, mostParts(shape)));
}

/** Each once, with no more parts than can be. */
export function distinct(choices: readonly ProductChoice[], mostParts: number): ProductChoice[] {
  const found = new Map<string, ProductChoice>();
  for (const { kernel, parts } of choices) {
    const choice =
      parts === undefined ? { kernel } : { kernel, parts: Math.max(1, Math.min(parts, mostParts)) };
    const key = `${kernel} ${choice.parts}`;
    if (!found.has(key)) found.set(key, choice);
  }
  return [...found.values()];
}

/**
 * The product by subgroup matrices with f16 operands and f32 sums, if the backend computes so and the sizes fit: whole
 * vec4s in the rows of every matrix (whole 8 values where f16 is stored), and operands that begin at a row that is a
 * multiple of 32. `tn` accumulates into C.
 */
export function multiplyMatrix(context: Context, product: Product, form: ProductForm): boolean {
  if (!canMultiply(context, product)) return false;
  const { a, b, m, n, k } = product;
  const left = context.panels(a.tensor, matrixRows(a, form === "tn" ? k : m), a.row);
  const right = context.panels(b.tensor, matrixRows(b, form === "nt" ? n : k), b.row);
  launch(context, product, form, left, right, form === "tn");
  release(context, left, right);
  return true;
}

/**
 * C += A′ · Bᵀ + A · B′ᵀ after C = A · Bᵀ, where A′ and B′ are what casting A and B to f16 lost, themselves in f16, under
 * the same conditions. What is stored in 16 bits or fewer counts as exact.
 */
export function refineMatrix(context: Context, product: Product): boolean {
  if (!canMultiply(context, product)) return false;
  const { a, b, m, n } = product;
  const left = context.panels(a.tensor, matrixRows(a, m), a.row);
  const right = context.panels(b.tensor, matrixRows(b, n), b.row);
  const lostLeft = context.lostPanels(a.tensor, left, a.row);
  launch(context, product, "nt", lostLeft, right, true);
  if (b.tensor.dtype === "f32") {
    const lostRight = context.lostPanels(b.tensor, right, b.row);
    launch(context, product, "nt", left, lostRight, true);
    release(context, lostRight);
  }
  release(context, left, right, lostLeft);
  return true;
}

function canMultiply({ f16 }: Context, { a, b, c, m, n, k }: Product): boolean {
  if (f16 !== "matrix" || m * n * k === 0) return false;
  return fits(a) && fits(b) && c.row % 4 === 0 && (c.at ?? 0) % 4 === 0 && n % 4 === 0;
}

function release({ memory }: Context, ...panels: Panels[]): void {
  for (const { values, once } of panels) if (once) memory.free(values);
}

/** C = A · B in a product's form, or C += it. */
function launch(
  context: Context,
  product: Product,
  form: ProductForm,
  left: Panels,
  right: Panels,
  accumulate: boolean,
): void {
  const { memory, commands } = context;
  const { a, b, c, m, n, k } = product;
  const choice = context.tuning.product("matrix", form, m, n, k) ?? matrixRule(context, product, form);
  const tile = MATRIX_TILES[choice.kernel === "large" ? "large" : "small"];
  const { bm, bn } = tile;
  const tiles = ceil(m, bm) * ceil(n, bn);
  const parts = form === "tn" ? Math.max(1, Math.min(choice.parts ?? 1, mostParts(product))) : 1;
  const depth = ceil(k, 32);
  // Whole rounds of the nested loop where they come out even.
  const part = depth % NEST === 0 ? ceil(depth / NEST, parts) * NEST : ceil(depth, parts);
  const count = ceil(depth, part);
  const split = accumulate && count > 1;
  const to: Operand = split ? { tensor: memory.allocate([count, m, n], "f32"), row: n } : c;
  const whole = m % bm === 0 && n % bn === 0;
  const adds = accumulate && !split;
  const stores = { direct: !adds && m >= bm && n >= bn, through: adds || !whole, accumulate: adds };
  const deep = depth % NEST === 0 && part % NEST === 0;
  const columns = accumulate && hasNarrow(context) ? 8 : 16;
  const constants = matrixConstants(form, tile, to.row, stores, deep, columns);
  const begin = ({ at = 0, row }: Operand) => (at / row) * 4;
  commands.dispatch({
    kernel: { source, entry: "matmul_matrix", buffers: "rrrrw", constants },
    buffers: [left.values, right.values, left.scale, right.scale, to.tensor],
    groups: tiles * count,
    uints: [m, n, depth, part, count, begin(a), left.rows * 4, begin(b), right.rows * 4, (to.at ?? 0) / 4],
    work: 2 * m * n * k,
  });
  if (split) {
    addParts(context, to.tensor, count, m * n, c.tensor, c.at ?? 0, true);
    memory.free(to.tensor);
  }
}

function fits({ tensor, at = 0, row }: Operand): boolean {
  return row % (tensor.dtype === "f16" ? 8 : 4) === 0 && at % (32 * row) === 0;
}

/** Rows to cast: the whole of a matrix, since other products may read more of it; else the rows that this one reads. */
function matrixRows({ tensor, at = 0, row }: Operand, count: number): number {
  const { shape, length } = tensor;
  return shape.length === 2 && shape[1] === row ? length / row : at / row + count;
}
