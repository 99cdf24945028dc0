import { reverseKl, topReverseKl } from "../../core/reverse-kl.ts";
import type { Backend } from "../backend.ts";
import { checkReverseKl, checkTopReverseKl } from "../shapes.ts";
import type { HostMemory, HostTensor } from "./memory.ts";

export function reverseKlOperations(
  memory: HostMemory,
): Pick<Backend<HostTensor>, "reverseKl" | "topReverseKl"> {
  /** Each row's divergence as `of` gives it, and its slopes in place of its logits. */
  function eachRow(
    logits: HostTensor,
    c: HostTensor,
    of: (row: Float32Array, m: number) => ReturnType<typeof reverseKl>,
  ): HostTensor {
    const [rows, vocabulary] = logits.shape as [number, number];
    const result = memory.zeros([rows]);
    for (let m = 0; m < rows; m++) {
      const row = logits.f32.subarray(m * vocabulary, (m + 1) * vocabulary);
      const { kl, slopes } = of(row, m);
      result.f32[m] = kl;
      for (let v = 0; v < vocabulary; v++) row[v] = c.f32[m]! * slopes[v]!;
    }
    return result;
  }

  return {
    reverseKl(logits, teacher, c) {
      const { vocabulary } = checkReverseKl(logits, teacher, c);
      return eachRow(logits, c, (row, m) =>
        reverseKl(row, teacher.f32.subarray(m * vocabulary, (m + 1) * vocabulary)),
      );
    },
    topReverseKl(logits, ids, teacher, c) {
      const { vocabulary, k } = checkTopReverseKl(logits, ids, teacher, c);
      const wrong = ids.u32.find((id) => id >= vocabulary);
      if (wrong !== undefined) throw new Error(`topReverseKl: id ${wrong} of ${vocabulary}`);
      return eachRow(logits, c, (row, m) =>
        topReverseKl(row, ids.u32.subarray(m * k, (m + 1) * k), teacher.f32.subarray(m * k, (m + 1) * k)),
      );
    },
  };
}
