import type { Backend } from "../backend.ts";
import { checkReverseKl, checkTopReverseKl } from "../shapes.ts";
import { type Context, checkIndices } from "./context.ts";
import type { GpuTensor } from "./memory.ts";
import source from "./reverse-kl.wgsl?raw";

export function reverseKlOperations(
  context: Context,
): Pick<Backend<GpuTensor>, "reverseKl" | "topReverseKl"> {
  const { memory, commands } = context;
  return {
    reverseKl(logits, teacher, c) {
      const { rows, vocabulary } = checkReverseKl(logits, teacher, c);
      const kl = memory.allocate([rows], "f32");
      if (rows === 0) return kl;
      commands.dispatch({
        kernel: { source, entry: "reverse_kl", buffers: "rrww" },
        buffers: [teacher, c, logits, kl],
        groups: rows,
        uints: [rows, vocabulary],
        work: 60 * rows * vocabulary,
      });
      return kl;
    },
    topReverseKl(logits, ids, teacher, c) {
      const { rows, vocabulary, k } = checkTopReverseKl(logits, ids, teacher, c);
      checkIndices("topReverseKl", "id", ids, vocabulary);
      const kl = memory.allocate([rows], "f32");
      if (rows === 0) return kl;
      commands.dispatch({
        kernel: { source, entry: "top_reverse_kl", buffers: "rrrww" },
        buffers: [ids, teacher, c, logits, kl],
        groups: rows,
        uints: [rows, vocabulary, k],
        work: rows * (vocabulary + 64 * k),
      });
      return kl;
    },
  };
}
