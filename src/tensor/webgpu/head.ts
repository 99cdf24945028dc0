import type { Backend } from "../backend.ts";
import { checkHead, checkHeadBackward } from "../shapes.ts";
import { type Context, checkIndices, groupsOf } from "./context.ts";
import source from "./head.wgsl?raw";
import { accumulateTN, multiplyNN, multiplyNT } from "./matmul.ts";
import type { GpuTensor } from "./memory.ts";

/** Columns whose maximum and sum one thread finds. */
const SEGMENT = 128;
/** Columns of a block of logits in the forward pass; a multiple of SEGMENT. */
const BLOCK_COLUMNS = 16384;

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
      const blockRows = Math.min(rows, Math.ceil(blockValues / blockColumns));
      const segmentCount = Math.ceil(vocabulary / SEGMENT);
      const logits = memory.allocate([blockRows, blockColumns], "f32");
      const segments = memory.allocate([blockRows, segmentCount, 2], "f32");
      for (let at = 0; at < rows; at += blockRows) {
        const m = Math.min(blockRows, rows - at);
        for (let first = 0; first < vocabulary; first += blockColumns) {
          const n = Math.min(blockColumns, vocabulary - first);
          multiplyNT(context, {
            a: { tensor: h, at: at * width, row: width },
            b: { tensor: w, at: first * width, row: width },
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
        run("head_merge", "rrrrww", [segments, h, w, targets, logprobs, lse], m, uints, work);
      }
      memory.free(logits);
      memory.free(segments);
      return { logprobs, lse };
    },

    headBackward(dw, h, w, targets, lse, c) {
      const { rows, vocabulary, width } = checkHeadBackward(dw, h, w, targets, lse, c);
      checkIndices("headBackward", "target", targets, vocabulary);
      const dh = memory.allocate([rows, width], "f32");
      if (rows === 0) return dh;
      // Whole vec4s a row; the padding is 0, which the product over the vocabulary needs.
      const row = Math.ceil(vocabulary / 4) * 4;
      const blockRows = Math.min(rows, Math.max(64, Math.floor(blockValues / row)));
      const slopes = memory.allocate([blockRows, row], "f32");
      for (let at = 0; at < rows; at += blockRows) {
        const m = Math.min(blockRows, rows - at);
        const hidden = { tensor: h, at: at * width, row: width };
        const block = { tensor: slopes, row };
        multiplyNT(context, {
          a: hidden,
          b: { tensor: w, row: width },
          c: block,
          m,
          n: vocabulary,
          k: width,
        });
        const uints = [m, vocabulary, 0, row, 0, at, width];
        run("head_slopes", "rrrw", [targets, lse, c, slopes], (m * row) / 4, uints, 15 * m * row);
        multiplyNN(
          context,
          {
            a: block,
            b: { tensor: w, row: width },
            c: { tensor: dh, at: at * width, row: width },
            m,
            n: width,
            k: vocabulary,
          },
          true,
        );
        if (dw)
          accumulateTN(context, {
            a: block,
            b: hidden,
            c: { tensor: dw, row: width },
            m: vocabulary,
            n: width,
            k: m,
          });
      }
      memory.free(slopes);
      return dh;
    },
  };
}
