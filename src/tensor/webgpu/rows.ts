import type { Backend } from "../backend.ts";
import {
  checkCopyRows,
  checkEmbedding,
  checkEmbeddingBackward,
  checkPutRows,
  checkRows,
  checkScatterRows,
} from "../shapes.ts";
import { type Context, checkIndices, groupsOf } from "./context.ts";
import type { GpuTensor } from "./memory.ts";
import source from "./rows.wgsl?raw";
import { gatherWeights } from "./weights.ts";
import { type RowRange, rowRanges, rowsOf } from "./windows.ts";

type Rows = "embedding" | "embeddingBackward" | "gatherRows" | "scatterRows" | "copyRows" | "putRows";

/** Rows that one thread adds; the sums of longer groups are added in a second pass. */
const LONGEST_RUN = 64;

export function rowOperations(context: Context): Pick<Backend<GpuTensor>, Rows> {
  const { memory, commands } = context;

  function run(
    entry: string,
    letters: string,
    buffers: GpuTensor[],
    rows: number,
    width: number,
    accumulate = 0,
    work = 1,
    { first, rows: bound }: RowRange = { first: 0, rows },
  ): void {
    const vec4 = width % 4 === 0;
    const columns = vec4 ? width / 4 : width;
    commands.dispatch({
      kernel: { source, entry, buffers: letters, constants: { TYPE: vec4 ? "vec4f" : "f32" } },
      buffers,
      groups: groupsOf(rows * columns),
      uints: [rows, columns, accumulate, first, bound],
      work: work * rows * width,
    });
  }

  function upload(values: readonly number[]): GpuTensor {
    const t = memory.allocate([values.length], "u32");
    commands.write(t, Uint32Array.from(values));
    return t;
  }

  return {
    embedding(table, ids) {
      checkEmbedding(table, ids);
      checkIndices("embedding", "id", ids, table.shape[0]!);
      return gatherWeights(context, table, ids);
    },

    embeddingBackward(dtable, ids, dy) {
      const { width } = checkEmbeddingBackward(dtable, ids, dy);
      if (ids.length === 0) return;
      const { order, runs, firstRun, distinct } = groupIds(ids);
      const runCount = runs.length - 1;
      const each = Array.from({ length: Math.max(runCount, distinct.length) }, (_, i) => i);
      const [index, runOffsets, runIndex] = [upload(order), upload(runs), upload(each)];
      const [groupOffsets, to] = [upload(firstRun), upload(distinct)];
      const partial = memory.allocate([runCount, width], "f32");
      const average = ids.length / runCount;
      run("sum_rows", "rrrrw", [dy, index, runOffsets, runIndex, partial], runCount, width, 0, average);
      for (const range of rowRanges(context, [dtable])) {
        const buffers = [partial, runIndex, groupOffsets, to, rowsOf(dtable, range)];
        run("sum_rows", "rrrrw", buffers, distinct.length, width, 1, runCount / distinct.length, range);
      }
      for (const t of [index, runOffsets, runIndex, groupOffsets, to, partial]) memory.free(t);
    },

    gatherRows(x, rows) {
      const { shape, width } = checkRows("gatherRows", x, rows);
      checkIndices("gatherRows", "row", rows, x.shape[0]!);
      if (x.dtype === "f16") return gatherWeights(context, x, rows);
      const y = memory.allocate(shape, "f32");
      run("gather_rows", "rrw", [x, rows, y], shape[0]!, width);
      return y;
    },

    scatterRows(dy, rows, total) {
      const { count, width } = checkScatterRows(dy, rows);
      checkIndices("scatterRows", "row", rows, total);
      const y = memory.allocate([total, width], "f32");
      commands.clear(y);
      run("scatter_rows", "rrw", [dy, rows, y], count, width);
      return y;
    },

    copyRows(dst, at, src) {
      const { rowSize } = checkCopyRows(dst, at, src);
      commands.copy(src, 0, dst, at * rowSize * 4, src.bytes);
      dst.largest = Math.max(dst.largest, src.largest);
    },

    putRows(dst, rows, src) {
      const { count, width } = checkPutRows(dst, rows, src);
      checkIndices("putRows", "row", rows, dst.shape[0]!);
      run(dst.dtype === "f16" ? "scatter_rows_half" : "scatter_rows", "rrw", [src, rows, dst], count, width);
    },
  };
}

/**
 * Sorts the positions 0 … T-1 by id, in order within one id, and cuts each id's positions into runs: run r holds
 * order[runs[r]] … order[runs[r+1]-1], and distinct[g] has the runs firstRun[g] … firstRun[g+1]-1.
 */
export function groupIds(ids: Uint32Array): {
  order: number[];
  runs: number[];
  firstRun: number[];
  distinct: number[];
} {
  const positions = new Map<number, number[]>();
  ids.forEach((id, t) => {
    const list = positions.get(id);
    if (list) list.push(t);
    else positions.set(id, [t]);
  });
  const order: number[] = [];
  const runs = [0];
  const firstRun = [0];
  for (const list of positions.values()) {
    for (let from = 0; from < list.length; from += LONGEST_RUN) {
      for (const t of list.slice(from, from + LONGEST_RUN)) order.push(t);
      runs.push(order.length);
    }
    firstRun.push(runs.length - 1);
  }
  return { order, runs, firstRun, distinct: [...positions.keys()] };
}
