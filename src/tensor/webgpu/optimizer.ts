import type { Backend } from "../backend.ts";
import { checkSame } from "../shapes.ts";
import { type Context, GROUP, groupsOf } from "./context.ts";
import { addParts } from "./matmul.ts";
import type { GpuTensor } from "./memory.ts";
import source from "./optimizer.wgsl?raw";
import { valueParts } from "./windows.ts";

/** Threads that add up one tensor: those that keep a large GPU's memory busy, or a few. */
const MOST_THREADS = { gpu: 2 ** 17, software: 4096 };

export function optimizerOperations(context: Context): Pick<Backend<GpuTensor>, "sumSquares" | "adamw"> {
  const { memory, commands, software } = context;
  const most = software ? MOST_THREADS.software : MOST_THREADS.gpu;
  return {
    sumSquares(tensors) {
      for (const t of tensors) checkSame("sumSquares", t);
      const pieces = tensors.flatMap((t) => valueParts(context, [t]).map(([part]) => part!));
      // Sums of every tensor side by side, then 64 sums of those, then one.
      const threads = pieces.map((t) => Math.min(most, Math.ceil(t.length / 64)));
      const parts = Math.max(1, Math.ceil(threads.reduce((a, b) => a + b, 0) / GROUP));
      const sums = memory.allocate([parts, GROUP], "f32");
      const fewer = memory.allocate([GROUP], "f32");
      const total = memory.allocate([1], "f32");
      commands.clear(sums);
      let at = 0;
      pieces.forEach((t, i) => {
        commands.dispatch({
          kernel: { source, entry: "sum_squares", buffers: "rw" },
          buffers: [t, sums],
          groups: groupsOf(threads[i]!),
          uints: [t.length, threads[i]!, at],
          work: 2 * t.length,
        });
        at += threads[i]!;
      });
      addParts(context, sums, parts, GROUP, fewer, 0, false);
      addParts(context, fewer, GROUP, 1, total, 0, false);
      memory.free(sums);
      memory.free(fewer);
      return total;
    },

    adamw(p, g, m, v, { learningRate, beta1, beta2, epsilon, weightDecay, step, gradScale }) {
      checkSame("adamw", p, g, m, v);
      // Powers and differences in f64: 1 − 0.999 has only four digits in f32.
      const rate = learningRate / (1 - beta1 ** step);
      const correction = Math.sqrt(1 - beta2 ** step);
      const decay = 1 - learningRate * weightDecay;
      for (const buffers of valueParts(context, [g, p, m, v])) {
        const count = Math.ceil(buffers[0]!.length / 4);
        commands.dispatch({
          kernel: { source, entry: "adamw", buffers: "rwww" },
          buffers,
          groups: groupsOf(count),
          uints: [count, 0, 0],
          floats: [gradScale, beta1, 1 - beta1, beta2, 1 - beta2, decay, rate, correction, epsilon],
          work: 80 * count,
        });
      }
    },
  };
}
