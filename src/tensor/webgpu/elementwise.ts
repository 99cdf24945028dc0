import type { Backend } from "../backend.ts";
import { checkSame } from "../shapes.ts";
import { type Context, groupsOf } from "./context.ts";
import source from "./elementwise.wgsl?raw";
import type { GpuTensor } from "./memory.ts";

type Elementwise = "add" | "addInPlace" | "swiglu" | "swigluBackward" | "fill";

export function elementwiseOperations({ memory, commands }: Context): Pick<Backend<GpuTensor>, Elementwise> {
  function run(entry: string, letters: string, tensors: GpuTensor[], operations: number, value = 0): void {
    const count = Math.ceil(tensors[0]!.length / 4);
    commands.dispatch({
      kernel: { source, entry, buffers: letters },
      buffers: tensors,
      groups: groupsOf(count),
      uints: [count],
      floats: [value],
      work: operations * 4 * count,
    });
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
    fill(t, value) {
      checkSame("fill", t);
      run("fill", "w", [t], 1, value);
    },
  };
}
