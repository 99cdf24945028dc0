import type { Backend } from "../backend.ts";
import { checkRmsNorm, checkRmsNormBackward } from "../shapes.ts";
import { type Context, groupsOf } from "./context.ts";
import { addParts } from "./matmul.ts";
import type { GpuTensor } from "./memory.ts";
import source from "./norm.wgsl?raw";

export function normOperations(context: Context): Pick<Backend<GpuTensor>, "rmsNorm" | "rmsNormBackward"> {
  const { memory, commands } = context;

  function run(
    entry: string,
    letters: string,
    buffers: GpuTensor[],
    { rows, width }: { rows: number; width: number },
    { part = 0, eps = 0 } = {},
  ): void {
    const vec4 = width % 4 === 0;
    const columns = vec4 ? width / 4 : width;
    const constants = vec4 ? { TYPE: "vec4f", TOTAL: "dot(v, vec4f(1.0))" } : { TYPE: "f32", TOTAL: "v" };
    commands.dispatch({
      kernel: { source, entry, buffers: letters, constants },
      buffers,
      groups: groupsOf(part === 0 ? rows : Math.ceil(rows / part) * columns),
      uints: [rows, columns, part],
      floats: [eps, 1 / width],
      work: 8 * rows * width,
    });
  }

  return {
    rmsNorm(x, w, eps) {
      const sizes = checkRmsNorm("rmsNorm", x, w);
      const y = memory.allocate(x.shape, "f32");
      const rstd = memory.allocate([sizes.rows], "f32");
      run("rms_norm", "rrww", [x, w, y, rstd], sizes, { eps });
      return { y, rstd };
    },
    rmsNormBackward(dw, dy, x, w, rstd) {
      const sizes = checkRmsNormBackward(dw, dy, x, w, rstd);
      const dx = memory.allocate(x.shape, "f32");
      if (sizes.rows === 0) return dx;
      run("rms_norm_backward", "rrrrw", [x, w, dy, rstd, dx], sizes);
      // √rows parts of √rows rows: both passes are then equally short.
      const part = Math.ceil(Math.sqrt(sizes.rows));
      const count = Math.ceil(sizes.rows / part);
      const parts = memory.allocate([count, sizes.width], "f32");
      run("rms_norm_weight", "rrrw", [x, dy, rstd, parts], sizes, { part });
      addParts(context, parts, count, sizes.width, dw, 0, true);
      memory.free(parts);
      return dx;
    },
  };
}
