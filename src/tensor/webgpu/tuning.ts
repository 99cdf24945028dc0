/**
 * Which kernel a product and which tiles an attention pass take on one adapter, by the class of their shape. The table is
 * filled by measuring (`tuner.ts`) or from a file; without an entry the fixed rules hold.
 *
 * A choice changes in which order sums are added up, never what is summed: results of two choices may differ in the last
 * digits of f32. The same table gives the same digits.
 */
import type { ProductForm, ProductShape } from "../tuning-shapes.ts";

/** What multiplies: subgroup matrices, or f32 arithmetic on f16 (`packed`) or f32 operands. */
export type ProductUnit = "matrix" | "packed" | "f32";

/** By tiles of C, of A and B in workgroup memory: rows × columns of C, 64 columns where none are named. */
export const SHARED_KERNELS = ["shared-128x128", "shared-128", "shared-64"] as const;
export type SharedKernel = (typeof SHARED_KERNELS)[number];

/** `large`, `small`: tiles of the matrix kernel. The rest: f32 arithmetic, by shared tiles or in registers. */
const KERNELS = {
  matrix: ["large", "small"],
  packed: [...SHARED_KERNELS, "tile"],
  f32: [...SHARED_KERNELS, "tile"],
} as const;
export type ProductKernel = (typeof KERNELS)[ProductUnit][number];

export interface ProductChoice {
  readonly kernel: ProductKernel;
  /** Of form `tn`: parts in which the sum over k is taken, as far as k and memory allow. */
  readonly parts?: number;
}

/** A choice must be faster than the rule's by this factor: less than that is the clock's. */
const CLEARLY_FASTER = 0.97;

const classOf = (count: number): number => 2 ** Math.ceil(Math.log2(Math.max(1, count)));

/** Sizes count by the power of two above them. */
export function productClass(unit: ProductUnit, { form, m, n, k }: ProductShape): string {
  return `${unit} ${form} ${classOf(m)}x${classOf(n)}x${classOf(k)}`;
}

export function attentionClass(pass: MatrixPass, size: number, queries: number): string {
  return `${pass} ${size} ${classOf(queries)}`;
}

/** The first of the measured, which the rules take, or one that is clearly faster. */
export function decide<C>(measured: readonly { choice: C; seconds: number }[]): C {
  const [rule, ...others] = measured;
  if (!rule) throw new Error("no choice was measured");
  let best = { choice: rule.choice, seconds: rule.seconds * CLEARLY_FASTER };
  for (const other of others) if (other.seconds < best.seconds) best = other;
  return best.choice;
}

export interface TuningEntries {
  products: Record<string, ProductChoice>;
  attention: Record<string, MatrixTiles>;
}

export class Tuning {
  readonly #products = new Map<string, ProductChoice>();
  readonly #attention = new Map<string, MatrixTiles>();

  product(unit: ProductUnit, form: ProductForm, m: number, n: number, k: number): ProductChoice | undefined {
    if (this.#products.size === 0) return undefined;
    return this.#products.get(productClass(unit, { form, m, n, k }));
  }

  attention(pass: MatrixPass, size: number, queries: number): MatrixTiles | undefined {
    if (this.#attention.size === 0) return undefined;
    return this.#attention.get(attentionClass(pass, size, queries));
  }

  /** `undefined` goes back to the rules. */
  setProduct(key: string, choice: ProductChoice | undefined): void {
    if (choice) this.#products.set(key, choice);
    else this.#products.delete(key);
  }

  setAttention(key: string, choice: MatrixTiles | undefined): void {
    if (choice) this.#attention.set(key, choice);
    else this.#attention.delete(key);
  }

  has(key: string): boolean {
    return this.#products.has(key) || this.#attention.has(key);
  }

  get entries(): TuningEntries {
    return {
      products: Object.fromEntries(this.#products),
      attention: Object.fromEntries(this.#attention),
    };
  }

  take({ products, attention }: TuningEntries): void {
    for (const [key, choice] of Object.entries(products)) this.#products.set(key, choice);
    for (const [key, choice] of Object.entries(attention)) this.#attention.set(key, choice);
  }
}

/** Entries of one adapter, measured with kernels of that hash. */
interface StoredAdapter extends TuningEntries {
  kernels: string;
}

/** What is stored: by adapter, as `adapterKey` describes it. */
export interface TuningFile {
  format: 1;
  adapters: Record<string, StoredAdapter>;
}

const isRecord = (value: unknown): value is Record<string, unknown> =>
  typeof value === "object" && value !== null && !Array.isArray(value);
const isCount = (value: unknown): value is number => Number.isInteger(value) && (value as number) > 0;

function isProductChoice(key: string, value: unknown): value is ProductChoice {
  if (!isRecord(value)) return false;
  const unit = key.slice(0, key.indexOf(" "));
  const kernels: readonly string[] = Object.entries(KERNELS).find(([name]) => name === unit)?.[1] ?? [];
  const { kernel, parts } = value;
  return typeof kernel === "string" && kernels.includes(kernel) && (parts === undefined || isCount(parts));
}

function isTiles(value: unknown): value is MatrixTiles {
  if (!isRecord(value)) return false;
  const { subgroups, bands, split, columns } = value;
  const oneOrTwo = (count: unknown) => count === 1 || count === 2;
  return isCount(subgroups) && oneOrTwo(bands) && oneOrTwo(split) && isCount(columns);
}

function isStoredAdapter(value: unknown): value is StoredAdapter {
  if (!isRecord(value) || typeof value.kernels !== "string") return false;
  const { products, attention } = value;
  return (
    isRecord(products) &&
    isRecord(attention) &&
    Object.entries(products).every(([key, choice]) => isProductChoice(key, choice)) &&
    Object.values(attention).every(isTiles)
  );
}

/** @throws Error, one line, when the text is not what `JSON.stringify` makes of a `TuningFile` */
export function parseTuningFile(text: string): TuningFile {
  const value: unknown = JSON.parse(text);
  if (!isRecord(value) || value.format !== 1 || !isRecord(value.adapters))
    throw new Error("it is not a tuning file of format 1");
  const adapters: Record<string, StoredAdapter> = {};
  for (const [key, adapter] of Object.entries(value.adapters)) {
    if (!isStoredAdapter(adapter)) throw new Error("it holds a choice that no kernel knows");
    adapters[key] = adapter;
  }
  return { format: 1, adapters };
}

export type MatrixPass = "forward" | "dq" | "dkv";

/** How a matrix kernel of attention cuts its work. */
export interface MatrixTiles {
  /** Subgroups per workgroup, and bands of 16 rows that each holds. */
  readonly subgroups: number;
  readonly bands: 1 | 2;
  /** Subgroups that hold the same rows, each with its share of the columns: of the forward pass alone. */
  readonly split: 1 | 2;
  /** Columns of scores at a time: a multiple of 32. */
  readonly columns: number;
}
