import type { Backend } from "../backend.ts";
import { checkRope } from "../shapes.ts";
import { type Context, checkIndices, groupsOf } from "./context.ts";
import type { GpuTensor } from "./memory.ts";
import source from "./rope.wgsl?raw";

export function ropeOperations({ memory, commands }: Context): Pick<Backend<GpuTensor>, "rope"> {
  return {
    rope(x, cos, sin, positions, inverse = false) {
      const { tokens, heads, size, half } = checkRope(x, cos, sin, positions);
      checkIndices("rope", "position", positions, cos.shape[0]!);
      const y = memory.allocate(x.shape, "f32");
      const count = (tokens * heads * size) / 2;
      commands.dispatch({
        kernel: { source, entry: "rope", buffers: "rrrrw" },
        buffers: [x, cos, sin, positions, y],
        groups: groupsOf(count),
        uints: [count, heads, half, size],
        floats: [inverse ? -1 : 1],
        work: 10 * count,
      });
      return y;
    },
  };
}
