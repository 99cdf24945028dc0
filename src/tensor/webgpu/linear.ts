import type { Backend } from "../backend.ts";
import {
  checkAddLinear,
  checkLinear,
  checkLinearBackwardInput,
  checkLinearBackwardWeight,
  checkLinearJoined,
  checkLinearSwiglu,
} from "../shapes.ts";
import type { NormOf, RowSpan } from "../tensor.ts";
import { addParts } from "./add-parts.ts";
import type { Context } from "./context.ts";
import { multiplyRows, normsRows } from "./linear-rows.ts";
import { accumulateTN, multiplyNN, multiplyNT, refineNT } from "./matmul.ts";
import type { Product } from "./matmul-product.ts";
import type { GpuTensor } from "./memory.ts";
import { weightBlocks } from "./weights.ts";
import { rowRanges, rowsOf } from "./windows.ts";

const NONE: RowSpan = { first: 0, end: 0 };
/** So few columns cost less with f32 operands than a second and third pass of the matrix units. */
const FEW_FINE = 64;
/** A gradient of more rows (a head's) is summed in blocks of rows, as many as a block of `headBackward` has. */
const MANY_ROWS = 65_536;
const BLOCK_ROWS = 16_384;

/** c = what `multiply` writes into a tensor like c, or c += it. */
export function addProduct(
  context: Context,
  c: GpuTensor,
  accumulate: boolean,
  multiply: (c: GpuTensor) => void,
): void {
  if (!accumulate) {
    multiply(c);
    return;
  }
  const part = context.memory.allocate(c.shape, "f32");
  multiply(part);
  addParts(context, part, 1, c.length, c, 0, true);
  context.memory.free(part);
}

type Linear =
  | "linear"
  | "linearJoined"
  | "linearSwiglu"
  | "addLinear"
  | "linearBackwardInput"
  | "linearBackwardWeight";

export function linearOperations(
  context: Context,
  { swiglu, rmsNorm, joinColumns }: Pick<Backend<GpuTensor>, "swiglu" | "rmsNorm" | "joinColumns">,
): Pick<Backend<GpuTensor>, Linear> {
  const { memory } = context;

  /** What `multiply` makes of x, or of its norm where the kernels do not norm it on the way. */
  function withNorm(
    x: GpuTensor,
    weights: readonly GpuTensor[],
    norm: NormOf<GpuTensor> | undefined,
    multiply: (x: GpuTensor, norm?: NormOf<GpuTensor>) => GpuTensor,
  ): GpuTensor {
    if (norm === undefined || normsRows(context, x, weights)) return multiply(x, norm);
    const { y: normed, rstd } = rmsNorm(x, norm.weight, norm.epsilon, norm.offset);
    memory.free(rstd);
    const y = multiply(normed);
    memory.free(normed);
    return y;
  }

  const operations: ReturnType<typeof linearOperations> = {
    linear(x, w, fine = NONE) {
      const { m, n, k } = checkLinear("linear", x, w, fine);
      // Few rows are multiplied in registers, where f32 operands cost no second pass.
      const few = multiplyRows(fine.first === fine.end ? context : { ...context, f16: undefined }, x, [w]);
      if (few) return few;
      const y = memory.allocate([m, n], "f32");
      /** Columns `span` of y, with f16 or f32 operands. */
      const project = (
        operands: Context,
        span: RowSpan,
        multiply: (context: Context, p: Product) => void,
      ) => {
        for (const block of weightBlocks(operands, w)) {
          const first = Math.max(span.first, block.first);
          const end = Math.min(span.end, block.first + block.rows);
          if (first >= end) continue;
          for (const rows of rowRanges(operands, [x, y]))
            multiply(operands, {
              a: { tensor: rowsOf(x, rows), row: k },
              b: { tensor: block.tensor, at: (first - block.first) * k, row: k },
              c: { tensor: rowsOf(y, rows), at: first, row: n },
              m: rows.rows,
              n: end - first,
              k,
            });
        }
      };
      const all = { first: 0, end: n };
      const count = fine.end - fine.first;
      if (count === 0 || context.f16 === undefined) project(context, all, multiplyNT);
      else {
        const refined = context.f16 === "matrix" && count >= FEW_FINE;
        if (refined || count < n) project(context, all, multiplyNT);
        if (refined) project(context, fine, refineNT);
        else project({ ...context, f16: undefined }, fine, multiplyNT);
      }
      return y;
    },
    linearJoined(given, weights, norm) {
      checkLinearJoined(given, weights, norm);
      return withNorm(given, weights, norm, (x, left) => {
        const few = multiplyRows(context, x, weights, { norm: left });
        if (few) return few;
        const products = weights.map((w) => operations.linear(x, w));
        if (products.length === 1) return products[0]!;
        const y = joinColumns(products);
        for (const product of products) memory.free(product);
        return y;
      });
    },
    linearSwiglu(given, gate, up, norm) {
      checkLinearSwiglu(given, gate, up, norm);
      return withNorm(given, [gate, up], norm, (x, left) => {
        const few = multiplyRows(context, x, [gate, up], { norm: left, gated: true });
        if (few) return few;
        const [a, b] = [operations.linear(x, gate), operations.linear(x, up)];
        const y = swiglu(a, b);
        memory.free(a);
        memory.free(b);
        return y;
      });
    },
    addLinear(y, x, w) {
      checkAddLinear(y, x, w);
      if (multiplyRows(context, x, [w], { onto: y })) return;
      const product = operations.linear(x, w);
      addParts(context, product, 1, y.length, y, 0, true);
      memory.free(product);
    },
    linearBackwardInput(dy, w) {
      const { m, n, k } = checkLinearBackwardInput(dy, w);
      const dx = memory.allocate([m, k], "f32");
      for (const block of weightBlocks(context, w))
        for (const rows of rowRanges(context, [dy, dx]))
          addProduct(context, rowsOf(dx, rows), block.first > 0, (c) =>
            multiplyNN(context, {
              a: { tensor: rowsOf(dy, rows), at: block.first, row: n },
              b: { tensor: block.tensor, row: k },
              c: { tensor: c, row: k },
              m: rows.rows,
              n: k,
              k: block.rows,
            }),
          );
      return dx;
    },
    linearBackwardWeight(dw, dy, x) {
      const { n, k } = checkLinearBackwardWeight(dw, dy, x);
      const bounds = n > MANY_ROWS ? { most: BLOCK_ROWS, multiple: 128 } : {};
      for (const { first, rows: count } of rowRanges(context, [dw], bounds))
        for (const rows of rowRanges(context, [dy, x]))
          accumulateTN(context, {
            a: { tensor: rowsOf(dy, rows), at: first, row: n },
            b: { tensor: rowsOf(x, rows), row: k },
            c: { tensor: rowsOf(dw, { first, rows: count }), row: k },
            m: count,
            n: k,
            k: rows.rows,
          });
    },
  };
  return operations;
}
