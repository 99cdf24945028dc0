import type { Backend } from "../backend.ts";
import { type ConvSizes, checkCausalConv, checkCausalConvBackward } from "../delta-shapes.ts";
import { addParts } from "./add-parts.ts";
import source from "./causal-conv.wgsl?raw";
import { type Context, groupsOf } from "./context.ts";
import type { GpuTensor } from "./memory.ts";

export function causalConvOperations(
  context: Context,
): Pick<Backend<GpuTensor>, "causalConv" | "causalConvBackward"> {
  const { memory, commands } = context;

  function run(
    entry: string,
    letters: string,
    buffers: GpuTensor[],
    { tokens, channels, kernel }: ConvSizes,
    part = 1,
  ): void {
    commands.dispatch({
      kernel: { source, entry, buffers: letters, constants: { K: kernel } },
      buffers,
      groups: groupsOf(Math.ceil(tokens / part) * channels),
      uints: [tokens, channels, part],
      work: (3 * kernel + 20) * tokens * channels,
    });
  }

  return {
    causalConv(x, w, start) {
      const sizes = checkCausalConv("causalConv", x, w, start);
      const y = memory.allocate(x.shape, "f32");
      run("conv_forward", "rrrw", [x, w, start, y], sizes);
      return y;
    },
    causalConvBackward(dw, dy, x, w, start, end) {
      const sizes = checkCausalConvBackward(dw, dy, x, w, start, end);
      const { tokens, channels, kernel } = sizes;
      const dx = memory.allocate(x.shape, "f32");
      if (tokens === 0) return dx;
      const slope = memory.allocate(x.shape, "f32");
      run("conv_slope", "rrrrw", [x, w, start, dy, slope], sizes);
      run("conv_input", "rrrw", [slope, w, end, dx], sizes);
      // √T parts of √T rows: both passes are then equally short.
      const part = Math.ceil(Math.sqrt(tokens));
      const count = Math.ceil(tokens / part);
      const parts = memory.allocate([count, channels, kernel], "f32");
      run("conv_weight", "rrrw", [x, slope, start, parts], sizes, part);
      addParts(context, parts, count, channels * kernel, dw, 0, true);
      memory.free(parts);
      memory.free(slope);
      return dx;
    },
  };
}
