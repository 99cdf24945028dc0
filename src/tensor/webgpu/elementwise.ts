import type { Backend } from "../backend.ts";
import { checkSame } from "../shapes.ts";
import { type Context, groupsOf } from "./context.ts";
import source from "./elementwise.wgsl?raw";
import type { GpuTensor } from "./memory.ts";
import { valueParts } from "./windows.ts";

type Elementwise =
  | "add"
  | "addInPlace"
  | "swiglu"
  | "swigluBackward"
  | "sigmoidGate"
  | "sigmoidGateBackward"
  | "fill";

export function elementwiseOperations(context: Context): Pick<Backend<GpuTensor>, Elementwise> {
  const { memory, commands } = context;

  function run(entry: string, letters: string, tensors: GpuTensor[], operations: number, value = 0): void {
    for (const buffers of valueParts(context, tensors)) {
      const count = Math.ceil(buffers[0]!.length / 4);
      commands.dispatch({
        kernel: { source, entry, buffers: letters },
        buffers,
        groups: groupsOf(count),
        uints: [count],
        floats: [value],
        work: operations * 4 * count,
      });
    }
  }

  function addInPlace(a: GpuTensor, b: GpuTensor): void {
    checkSame("addInPlace", a, b);
    if (a === b) {
      // One buffer cannot be read and written as two bindings.
      const copy = memory.allocate(a.shape, "f32");
      commands.copy(a, 0, copy, 0, a.bytes);
      run("add_in_place", "wr", [a, copy], 1);
      memory.free(copy);
    } else run("add_in_place", "wr", [a, b], 1);
  }

  return {
    addInPlace,
    add(a, b) {
      checkSame("add", a, b);
      const y = memory.allocate(a.shape, "f32");
      run("add", "rrw", [a, b, y], 1);
      return y;
    },
    swiglu(gate, up) {
      checkSame("swiglu", gate, up);
      const y = memory.allocate(gate.shape, "f32");
      run("swiglu", "rrw", [gate, up, y], 20);
      return y;
    },
    swigluBackward(gate, up, dy) {
      checkSame("swigluBackward", gate, up, dy);
      const dgate = memory.allocate(gate.shape, "f32");
      const dup = memory.allocate(gate.shape, "f32");
      run("swiglu_backward", "rrrww", [gate, up, dy, dgate, dup], 30);
      return { dgate, dup };
    },
    sigmoidGate(x, gate) {
      checkSame("sigmoidGate", x, gate);
      const y = memory.allocate(x.shape, "f32");
      run("sigmoid_gate", "rrw", [x, gate, y], 20);
      return y;
    },
    sigmoidGateBackward(x, gate, dy) {
      checkSame("sigmoidGateBackward", x, gate, dy);
      const dx = memory.allocate(x.shape, "f32");
      const dgate = memory.allocate(x.shape, "f32");
      run("sigmoid_gate_backward", "rrrww", [x, gate, dy, dx, dgate], 25);
      return { dx, dgate };
    },
    fill(t, value) {
      checkSame("fill", t);
      run("fill", "w", [t], 1, value);
    },
  };
}
