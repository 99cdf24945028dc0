import type { Backend } from "../backend.ts";
import { checkAddRmsNorm, checkRmsNorm, checkRmsNormBackward, checkRmsNormRope } from "../shapes.ts";
import { addParts } from "./add-parts.ts";
import { type Context, checkIndices, GROUP } from "./context.ts";
import type { GpuTensor } from "./memory.ts";
import source from "./norm.wgsl?raw";

type Norms = "rmsNorm" | "addRmsNorm" | "rmsNormRope" | "rmsNormBackward";

/** Threads per workgroup on a GPU, where several share a row. */
const WIDE_GROUP = 256;
/** vec4s (or values) of a row that one thread takes at least. */
const SHORTEST_LANE = 2;

/** Threads that keep a large GPU's memory busy. */
const MANY_THREADS = 2 ** 17;

interface Sizes {
  rows: number;
  width: number;
}

export function normOperations(context: Context): Pick<Backend<GpuTensor>, Norms> {
  const { memory, commands, software } = context;

  function dispatch(
    entry: string,
    letters: string,
    buffers: GpuTensor[],
    { rows, width }: Sizes,
    { part = 0, heads = 1, half = 0, eps = 0, offset = 0, vec4 = width % 4 === 0 } = {},
  ): void {
    const columns = vec4 ? width / 4 : width;
    const type = vec4 ? { TYPE: "vec4f", TOTAL: "dot(v, vec4f(1.0))" } : { TYPE: "f32", TOTAL: "v" };
    // A software adapter has dear barriers: a row per thread. rms_norm_weight has a column of a part per thread.
    const lanes = software || part > 0 ? 1 : lanesOf(columns);
    const group = lanes === 1 ? GROUP : WIDE_GROUP;
    const threads = part > 0 ? Math.ceil(rows / part) * columns : rows * lanes;
    commands.dispatch({
      kernel: {
        source,
        entry,
        buffers: letters,
        constants: { ...type, LANES: lanes, GROUP: group },
      },
      buffers,
      groups: Math.ceil(threads / group),
      uints: [rows, columns, part, heads, vec4 ? half / 4 : half],
      floats: [eps, 1 / width, offset],
      work: 8 * rows * width,
    });
  }

  return {
    rmsNorm(x, w, eps, offset) {
      const sizes = checkRmsNorm("rmsNorm", x, w);
      const y = memory.allocate(x.shape, "f32");
      const rstd = memory.allocate([sizes.rows], "f32");
      dispatch("rms_norm", "rrww", [x, w, y, rstd], sizes, { eps, offset });
      return { y, rstd };
    },
    addRmsNorm(a, b, w, eps, offset) {
      const sizes = checkAddRmsNorm(a, b, w);
      const sum = memory.allocate(a.shape, "f32");
      const y = memory.allocate(a.shape, "f32");
      const rstd = memory.allocate([sizes.rows], "f32");
      dispatch("add_rms_norm", "rrwwrw", [a, w, y, rstd, b, sum], sizes, { eps, offset });
      return { sum, y, rstd };
    },
    rmsNormRope(x, w, eps, cos, sin, positions, offset) {
      const sizes = checkRmsNormRope(x, w, cos, sin, positions);
      checkIndices("rmsNormRope", "position", positions, cos.shape[0]!);
      const y = memory.allocate(x.shape, "f32");
      const rstd = memory.allocate([sizes.rows], "f32");
      const buffers = [x, w, y, rstd, cos, sin, positions];
      const half = cos.shape[1]!;
      const vec4 = sizes.width % 4 === 0 && half % 4 === 0;
      dispatch("rms_norm_rope", "rrwwrrr", buffers, sizes, { eps, offset, heads: x.shape[1]!, half, vec4 });
      return { y, rstd };
    },
    rmsNormBackward(dw, dy, x, w, rstd, plus = null, offset) {
      const sizes = checkRmsNormBackward(dw, dy, x, w, rstd, plus);
      const dx = memory.allocate(x.shape, "f32");
      if (sizes.rows === 0) return dx;
      if (plus === null) dispatch("rms_norm_backward", "rrrrw", [x, w, dy, rstd, dx], sizes, { offset });
      else dispatch("rms_norm_backward_add", "rrrrwr", [x, w, dy, rstd, dx, plus], sizes, { offset });
      if (dw === null) return dx;
      const part = rowsOfPart(sizes, software);
      const count = Math.ceil(sizes.rows / part);
      const parts = memory.allocate([count, sizes.width], "f32");
      dispatch("rms_norm_weight", "rrrw", [x, dy, rstd, parts], sizes, { part });
      addParts(context, parts, count, sizes.width, dw, 0, true);
      memory.free(parts);
      return dx;
    },
  };
}

/** Threads per row: a power of two, so that their sums are added in a tree. */
function lanesOf(columns: number): number {
  let lanes = 1;
  while (lanes < WIDE_GROUP && 2 * lanes * SHORTEST_LANE <= columns) lanes *= 2;
  return lanes;
}

/** Rows whose contributions to a weight one thread adds: √rows, so that both passes are equally short; fewer on a GPU. */
function rowsOfPart({ rows, width }: Sizes, software: boolean): number {
  const even = Math.ceil(Math.sqrt(rows));
  return software ? even : Math.min(even, Math.max(8, Math.ceil((rows * width) / 4 / MANY_THREADS)));
}
