import type { ModelConfig } from "./config.ts";
import { EMBEDDING, HEAD, parameterShapes } from "./weights.ts";

/** Which operands of a product have k along their rows: A [m,k] · B [n,k], A [m,k] · B [k,n], A [k,m] · B [k,n]. */
export type ProductForm = "nt" | "nn" | "tn";

/** C [m,n] from a sum over k. */
export interface ProductShape {
  readonly form: ProductForm;
  readonly m: number;
  readonly n: number;
  readonly k: number;
}

/** Attention of `queries` rows to as many keys, packed causal. */
export interface AttentionShape {
  readonly queries: number;
  readonly heads: number;
  readonly groups: number;
  readonly size: number;
  readonly backward: boolean;
}

export interface TuningShapes {
  readonly products: readonly ProductShape[];
  readonly attention: readonly AttentionShape[];
}

/** Rows of logits, and columns of the vocabulary, that the head takes at a time. */
const HEAD_ROWS = 4096;
const HEAD_COLUMNS = 16_384;

/** What a model multiplies in passes of `rows` tokens: forward, or what a training step adds to it. */
export function modelShapes(config: ModelConfig, rows: number, pass: "forward" | "backward"): TuningShapes {
  const products = new Map<string, ProductShape>();
  const add = (form: ProductForm, m: number, n: number, k: number) =>
    products.set(`${form} ${m} ${n} ${k}`, { form, m, n, k });
  const linear = (m: number, n: number, k: number) => {
    if (pass === "forward") add("nt", m, n, k);
    else {
      add("nn", m, k, n);
      add("tn", n, k, m);
    }
  };
  for (const [name, shape] of parameterShapes(config))
    if (shape.length === 2 && name !== EMBEDDING && name !== HEAD) linear(rows, shape[0]!, shape[1]!);
  const { vocabularySize, hiddenSize, heads, keyValueHeads: groups, headSize: size } = config;
  linear(Math.min(HEAD_ROWS, Math.ceil(rows / 4)), Math.min(HEAD_COLUMNS, vocabularySize), hiddenSize);
  return {
    products: [...products.values()],
    attention: [{ queries: rows, heads, groups, size, backward: pass === "backward" }],
  };
}
