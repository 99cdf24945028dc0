import type { Backend } from "../backend.ts";
import { checkHead, checkHeadBackward } from "../shapes.ts";
import { addParts } from "./add-parts.ts";
import { type Context, checkIndices, groupsOf } from "./context.ts";
import source from "./head.wgsl?raw";
import { accumulateTN, multiplyNN, multiplyNT } from "./matmul.ts";
import type { GpuTensor } from "./memory.ts";
import { gatherWeights, weightBlocks } from "./weights.ts";
import { rowsOf } from "./windows.ts";

/** Columns whose maximum and sum one thread finds. */
const SEGMENT = 128;
/** Columns of a block of logits; a multiple of SEGMENT. */
const BLOCK_COLUMNS = 16384;
const BLOCKS = { most: BLOCK_COLUMNS, multiple: SEGMENT };

export function headOperations(context: Context): Pick<Backend<GpuTensor>, "headLogprobs" | "headBackward"> {
  const { memory, commands } = context;
  /** Logits that exist at one time: 16 MiB on a software adapter, at most 256 MiB on a GPU. */
  const blockValues = context.software ? 2 ** 22 : 2 ** 26;

  function run(
    entry: string,
    letters: string,
    buffers: GpuTensor[],
    threads: number,
    uints: number[],
    work: number,
  ): void {
    commands.dispatch({
      kernel: { source, entry, buffers: letters, constants: { SEGMENT } },
      buffers,
      groups: groupsOf(threads),
      uints,
      work,
    });
  }

  return {
    headLogprobs(h, w, targets) {
      const { rows, vocabulary, width } = checkHead("headLogprobs", h, w, targets);
      checkIndices("headLogprobs", "target", targets, vocabulary);
      const logprobs = memory.allocate([rows], "f32");
      const lse = memory.allocate([rows], "f32");
      if (rows === 0) return { logprobs, lse };
      const blockColumns = Math.min(BLOCK_COLUMNS, vocabulary);
      const blockRows = Math.min(rows, Math.ceil(blockValues / blockColumns / 32) * 32);
      const segmentCount = Math.ceil(vocabulary / SEGMENT);
      const logits = memory.allocate([blockRows, blockColumns], "f32");
      const segments = memory.allocate([blockRows, segmentCount, 2], "f32");
      const wanted = gatherWeights(context, w, targets);
      for (let at = 0; at < rows; at += blockRows) {
        const m = Math.min(blockRows, rows - at);
        for (const { tensor, first, rows: n } of weightBlocks(context, w, BLOCKS)) {
          multiplyNT(context, {
            a: { tensor: h, at: at * width, row: width },
            b: { tensor, row: width },
            c: { tensor: logits, row: n },
            m,
            n,
            k: width,
          });
          const uints = [m, n, first, n, segmentCount, at, width];
          run("head_segments", "rw", [logits, segments], m * Math.ceil(n / SEGMENT), uints, 15 * m * n);
        }
        const uints = [m, 0, 0, 0, segmentCount, at, width];
        const work = m * (20 * segmentCount + 2 * width);
        run("head_merge", "rrrww", [segments, h, wanted, logprobs, lse], m, uints, work);
      }
      memory.free(wanted);
      memory.free(logits);
      memory.free(segments);
      return { logprobs, lse };
    },

    headBackward(dw, h, w, targets, lse, c) {
      const { rows, vocabulary, width } = checkHeadBackward(dw, h, w, targets, lse, c);
      checkIndices("headBackward", "target", targets, vocabulary);
      const dh = memory.allocate([rows, width], "f32");
      if (rows === 0) return dh;
      const blockColumns = Math.min(BLOCK_COLUMNS, vocabulary);
      // A multiple of 32, at which the matrix kernels may begin.
      const blockRows = Math.min(rows, Math.ceil(blockValues / blockColumns / 32) * 32);
      // Whole vec4s a row; the padding is 0, which the product over the vocabulary needs.
      const slopes = memory.allocate([blockRows, Math.ceil(blockColumns / 4) * 4], "f32");
      for (let at = 0; at < rows; at += blockRows) {
        const m = Math.min(blockRows, rows - at);
        const hidden = { tensor: h, at: at * width, row: width };
        const part = memory.allocate([m, width], "f32");
        for (const { tensor, first, rows: n } of weightBlocks(context, w, BLOCKS)) {
          const row = Math.ceil(n / 4) * 4;
          const block = { tensor: slopes, row };
          multiplyNT(context, { a: hidden, b: { tensor, row: width }, c: block, m, n, k: width });
          const uints = [m, n, first, row, 0, at, width];
          run("head_slopes", "rrrw", [targets, lse, c, slopes], (m * row) / 4, uints, 15 * m * row);
          const sum = { tensor: part, row: width };
          multiplyNN(context, { a: block, b: { tensor, row: width }, c: sum, m, n: width, k: n }, true);
          addParts(context, part, 1, m * width, dh, at * width, first > 0);
          if (dw) {
            const gradient = { tensor: rowsOf(dw, { first, rows: n }), row: width };
            accumulateTN(context, { a: block, b: hidden, c: gradient, m: n, n: width, k: m });
          }
        }
        memory.free(part);
      }
      memory.free(slopes);
      return dh;
    },
  };
}
