import type { Backend } from "../backend.ts";
import { checkDeltaStates } from "../delta-shapes.ts";
import { type Context, groupsOf } from "./context.ts";
import source from "./delta-states.wgsl?raw";
import type { GpuTensor } from "./memory.ts";

/** States of the gated delta rule where continuations leave a sequence; no bounds are checked beyond the shapes. */
export function deltaStateOperations({ memory, commands }: Context): Pick<Backend<GpuTensor>, "deltaStates"> {
  return {
    deltaStates(k, gates, errors, spans) {
      const sizes = checkDeltaStates(k, gates, errors, spans);
      const { tokens, states, keyHeads, valueHeads, keySize, valueSize } = sizes;
      if (keySize % 4 !== 0 || valueSize % 4 !== 0)
        throw new Error(`deltaStates: heads of ${keySize} and ${valueSize} numbers; expected multiples of 4`);
      const all = memory.allocate([states, valueHeads, keySize, valueSize], "f32");
      const threads = (states * valueHeads * keySize * valueSize) / 4;
      commands.dispatch({
        kernel: {
          source,
          entry: "delta_states",
          buffers: "rrrrw",
          constants: { DK: keySize, DV4: valueSize / 4 },
        },
        buffers: [k, gates, errors, spans, all],
        groups: groupsOf(threads),
        uints: [states, keyHeads, valueHeads],
        work: 3 * tokens * valueHeads * keySize * valueSize,
      });
      return all;
    },
  };
}
