import type { Backend } from "../backend.ts";
import {
  checkCopyRows,
  checkEmbedding,
  checkEmbeddingBackward,
  checkPutRows,
  checkRows,
  checkScatterRows,
  elements,
} from "../shapes.ts";
import { packValues } from "../weight-format.ts";
import type { HostMemory, HostTensor } from "./memory.ts";

export function rowOperations(
  memory: HostMemory,
): Pick<
  Backend<HostTensor>,
  "embedding" | "embeddingBackward" | "gatherRows" | "scatterRows" | "copyRows" | "putRows"
> {
  /** y[i] = table[rows[i]] */
  function gather(
    operation: string,
    table: HostTensor,
    rows: Uint32Array,
    shape: readonly number[],
  ): HostTensor {
    const y = memory.zeros(shape);
    const out = y.f32;
    const width = elements(shape.slice(1));
    for (let i = 0; i < rows.length; i++) {
      const row = rows[i]!;
      if (row >= table.shape[0]!) throw new Error(`${operation}: row ${row} of ${table.shape[0]}`);
      out.set(table.rows(row, row + 1), i * width);
    }
    return y;
  }

  return {
    embedding(table, ids) {
      const { count, width } = checkEmbedding(table, ids);
      return gather("embedding", table, ids.u32, [count, width]);
    },
    embeddingBackward(dtable, ids, dy) {
      const { width } = checkEmbeddingBackward(dtable, ids, dy);
      const [out, d] = [dtable.f32, dy.f32];
      for (let t = 0; t < ids.length; t++) {
        const to = ids[t]! * width;
        const from = t * width;
        for (let j = 0; j < width; j++) out[to + j] = out[to + j]! + d[from + j]!;
      }
    },
    gatherRows(x, rows) {
      return gather("gatherRows", x, rows.u32, checkRows("gatherRows", x, rows).shape);
    },
    scatterRows(dy, rows, total) {
      const { count, width } = checkScatterRows(dy, rows);
      const y = memory.zeros([total, width]);
      const [d, out, index] = [dy.f32, y.f32, rows.u32];
      for (let i = 0; i < count; i++) {
        const row = index[i]!;
        if (row >= total) throw new Error(`scatterRows: row ${row} of ${total}`);
        out.set(d.subarray(i * width, (i + 1) * width), row * width);
      }
      return y;
    },
    copyRows(dst, at, src) {
      const { rowSize } = checkCopyRows(dst, at, src);
      dst.data.set(src.data, at * rowSize);
    },
    putRows(dst, rows, src) {
      const { count, width } = checkPutRows(dst, rows, src);
      for (let i = 0; i < count; i++) {
        const row = rows.u32[i]!;
        if (row >= dst.shape[0]!) throw new Error(`putRows: row ${row} of ${dst.shape[0]}`);
        const values = src.f32.subarray(i * width, (i + 1) * width);
        if (dst.dtype === "f16") dst.data.set(packValues("f16", width, values), (row * width) / 2);
        else dst.f32.set(values, row * width);
      }
    },
  };
}
