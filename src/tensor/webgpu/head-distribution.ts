import type { Backend } from "../backend.ts";
import { checkHeadDistribution } from "../shapes.ts";
import type { Context } from "./context.ts";
import source from "./head-distribution.wgsl?raw";
import { multiplyNT } from "./matmul.ts";
import type { GpuTensor } from "./memory.ts";
import { weightBlocks } from "./weights.ts";

/** Columns of a block of logits. */
const BLOCK_COLUMNS = 16384;

export function headDistributionOperations(context: Context): Pick<Backend<GpuTensor>, "headDistribution"> {
  const { memory, commands } = context;
  /** Logits that exist at one time: 16 MiB on a software adapter, at most 256 MiB on a GPU. */
  const blockValues = context.software ? 2 ** 22 : 2 ** 26;
  return {
    headDistribution(h, w, lse, top) {
      const { rows, vocabulary, width } = checkHeadDistribution(h, w, lse, top);
      const entropy = memory.allocate([rows], "f32");
      const topLogprobs = memory.allocate([rows, top], "f32");
      const topIds = memory.allocate([rows, top], "f32");
      if (rows === 0) return { entropy, topIds, topLogprobs };
      const blockColumns = Math.min(BLOCK_COLUMNS, vocabulary);
      const blockRows = Math.min(rows, Math.ceil(blockValues / blockColumns));
      const logits = memory.allocate([blockRows, blockColumns], "f32");
      for (let at = 0; at < rows; at += blockRows) {
        const m = Math.min(blockRows, rows - at);
        for (const { tensor, first, rows: n } of weightBlocks(context, w, { most: BLOCK_COLUMNS })) {
          multiplyNT(context, {
            a: { tensor: h, at: at * width, row: width },
            b: { tensor, row: width },
            c: { tensor: logits, row: n },
            m,
            n,
            k: width,
          });
          commands.dispatch({
            kernel: { source, entry: "head_distribution", buffers: "rrwww" },
            buffers: [logits, lse, entropy, topLogprobs, topIds],
            groups: m,
            uints: [m, n, first, n, at, top, Math.min(top, first)],
            work: m * (12 * n + 4 * n * top),
          });
        }
      }
      memory.free(logits);
      return { entropy, topIds, topLogprobs };
    },
  };
}
