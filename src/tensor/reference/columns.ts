import type { Backend } from "../backend.ts";
import { checkJoinColumns, checkSplitColumns } from "../delta-shapes.ts";
import type { HostMemory, HostTensor } from "./memory.ts";

export function columnOperations(
  memory: HostMemory,
): Pick<Backend<HostTensor>, "splitColumns" | "joinColumns"> {
  return {
    splitColumns(x, widths) {
      const { rows, width } = checkSplitColumns(x, widths);
      let from = 0;
      return widths.map((size) => {
        const part = memory.zeros([rows, size]);
        for (let r = 0; r < rows; r++)
          part.f32.set(x.f32.subarray(r * width + from, r * width + from + size), r * size);
        from += size;
        return part;
      });
    },
    joinColumns(parts) {
      const { rows, width } = checkJoinColumns(parts);
      const y = memory.zeros([rows, width]);
      let to = 0;
      for (const part of parts) {
        const size = part.shape[1]!;
        for (let r = 0; r < rows; r++) y.f32.set(part.f32.subarray(r * size, (r + 1) * size), r * width + to);
        to += size;
      }
      return y;
    },
  };
}
