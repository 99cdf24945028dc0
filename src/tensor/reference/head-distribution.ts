import type { Backend } from "../backend.ts";
import { checkHeadDistribution } from "../shapes.ts";
import { logitTiles } from "./head.ts";
import type { HostMemory, HostTensor } from "./memory.ts";

export function headDistributionOperations(
  memory: HostMemory,
): Pick<Backend<HostTensor>, "headDistribution"> {
  return {
    headDistribution(h, w, lse, top) {
      const { rows, vocabulary } = checkHeadDistribution(h, w, lse, top);
      const entropy = memory.zeros([rows]);
      const topLogprobs = memory.zeros([rows, top]);
      const topIds = memory.zeros([rows, top]);
      for (const { from, count, logits } of logitTiles(h, w.f32, vocabulary)) {
        for (let r = 0; r < count; r++) {
          const row = logits.subarray(r * vocabulary, (r + 1) * vocabulary);
          const sum = lse.f32[from + r]!;
          let total = 0;
          for (const logit of row) total -= Math.exp(logit - sum) * (logit - sum);
          entropy.f32[from + r] = total;
          const order = Array.from(row.keys()).sort((a, b) => row[b]! - row[a]! || a - b);
          for (let i = 0; i < top; i++) {
            topIds.f32[(from + r) * top + i] = order[i]!;
            topLogprobs.f32[(from + r) * top + i] = row[order[i]!]! - sum;
          }
        }
      }
      return { entropy, topIds, topLogprobs };
    },
  };
}
