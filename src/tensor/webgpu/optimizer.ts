import type { Backend } from "../backend.ts";
import { checkSame } from "../shapes.ts";
import { addParts } from "./add-parts.ts";
import { type Context, GROUP, groupsOf } from "./context.ts";
import type { GpuTensor } from "./memory.ts";
import source from "./optimizer.wgsl?raw";
import { valueParts } from "./windows.ts";

/** Threads that add up one tensor: those that keep a large GPU's memory busy, or a few. */
const MOST_THREADS = { gpu: 2 ** 17, software: 4096 };

/** Parameters that one dispatch steps: the kernel has bindings for so many. */
const MOST_TOGETHER = 4;

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
          kernel: { source, entry: "sum_squares", buffers: "rw", constants: { TENSORS: 1 } },
          buffers: [t, sums],
          groups: groupsOf(threads[i]!),
          uints: [t.length, threads[i]!, at, 0],
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

    adamw(parameters, { learningRate, beta1, beta2, epsilon, weightDecay, step, gradScale }) {
      // Powers and differences in f64: 1 − 0.999 has only four digits in f32.
      const rate = learningRate / (1 - beta1 ** step);
      const correction = Math.sqrt(1 - beta2 ** step);
      const decay = 1 - learningRate * weightDecay;
      const parts = parameters.flatMap(({ p, g, m, v }) => {
        checkSame("adamw", p, g, m, v);
        return valueParts(context, [g, p, m, v]);
      });
      // As many at a time as a kernel may be bound to.
      const together = Math.min(
        MOST_TOGETHER,
        Math.floor(commands.limits.maxStorageBuffersPerShaderStage / 4),
      );
      for (let at = 0; at < parts.length; at += together) {
        const some = parts.slice(at, at + together);
        const counts = some.map(([first]) => Math.ceil(first!.length / 4));
        const all = counts.reduce((a, b) => a + b, 0);
        const constants = { TENSORS: some.length };
        commands.dispatch({
          kernel: { source, entry: "adamw", buffers: "rwww".repeat(some.length), constants },
          buffers: some.flat(),
          groups: groupsOf(all),
          uints: Array.from({ length: MOST_TOGETHER }, (_, i) => counts[i] ?? 0),
          floats: [gradScale, beta1, 1 - beta1, beta2, 1 - beta2, decay, rate, correction, epsilon],
          work: 80 * all,
        });
      }
    },
  };
}
