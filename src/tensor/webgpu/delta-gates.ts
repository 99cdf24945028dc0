import type { Backend } from "../backend.ts";
import { checkDeltaGates, checkDeltaGatesBackward } from "../delta-shapes.ts";
import { addParts } from "./add-parts.ts";
import { type Context, groupsOf } from "./context.ts";
import source from "./delta-gates.wgsl?raw";
import type { GpuTensor } from "./memory.ts";

export function deltaGateOperations(
  context: Context,
): Pick<Backend<GpuTensor>, "deltaGates" | "deltaGatesBackward"> {
  const { memory, commands } = context;

  function run(
    entry: string,
    letters: string,
    buffers: GpuTensor[],
    { tokens, heads }: { tokens: number; heads: number },
    part = 1,
  ): void {
    commands.dispatch({
      kernel: { source, entry, buffers: letters },
      buffers,
      groups: groupsOf(Math.ceil(tokens / part) * heads),
      uints: [tokens, heads, part],
      work: 60 * tokens * heads,
    });
  }

  return {
    deltaGates(a, b, aLog, bias) {
      const sizes = checkDeltaGates("deltaGates", a, b, aLog, bias);
      const gates = memory.allocate([sizes.tokens, sizes.heads, 2], "f32");
      run("gates_forward", "rrrrw", [a, b, aLog, bias, gates], sizes);
      return gates;
    },
    deltaGatesBackward(daLog, dbias, dgates, a, b, aLog, bias) {
      const sizes = checkDeltaGatesBackward(daLog, dbias, dgates, a, b, aLog, bias);
      const da = memory.allocate(a.shape, "f32");
      const db = memory.allocate(b.shape, "f32");
      if (sizes.tokens === 0) return { da, db };
      run("gates_backward", "rrrrrww", [a, b, aLog, bias, dgates, da, db], sizes);
      // √T parts of √T rows: both passes are then equally short.
      const part = Math.ceil(Math.sqrt(sizes.tokens));
      const count = Math.ceil(sizes.tokens / part);
      const logParts = memory.allocate([count, sizes.heads], "f32");
      const biasParts = memory.allocate([count, sizes.heads], "f32");
      run("gate_parts", "rrrrrww", [a, da, aLog, bias, dgates, logParts, biasParts], sizes, part);
      addParts(context, logParts, count, sizes.heads, daLog, 0, true);
      addParts(context, biasParts, count, sizes.heads, dbias, 0, true);
      memory.free(logParts);
      memory.free(biasParts);
      return { da, db };
    },
  };
}
