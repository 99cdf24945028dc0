import type { Backend } from "../backend.ts";
import { checkSame } from "../shapes.ts";
import type { HostMemory, HostTensor } from "./memory.ts";

type Elementwise =
  | "add"
  | "addInPlace"
  | "swiglu"
  | "swigluBackward"
  | "sigmoidGate"
  | "sigmoidGateBackward"
  | "fill";

export function elementwiseOperations(memory: HostMemory): Pick<Backend<HostTensor>, Elementwise> {
  return {
    add(a, b) {
      const count = checkSame("add", a, b);
      const y = memory.zeros(a.shape);
      const [left, right, out] = [a.f32, b.f32, y.f32];
      for (let i = 0; i < count; i++) out[i] = left[i]! + right[i]!;
      return y;
    },
    addInPlace(a, b) {
      const count = checkSame("addInPlace", a, b);
      const [left, right] = [a.f32, b.f32];
      for (let i = 0; i < count; i++) left[i] = left[i]! + right[i]!;
    },
    swiglu(gate, up) {
      const count = checkSame("swiglu", gate, up);
      const y = memory.zeros(gate.shape);
      const [g, u, out] = [gate.f32, up.f32, y.f32];
      for (let i = 0; i < count; i++) out[i] = (g[i]! / (1 + Math.exp(-g[i]!))) * u[i]!;
      return y;
    },
    swigluBackward(gate, up, dy) {
      const count = checkSame("swigluBackward", gate, up, dy);
      const dgate = memory.zeros(gate.shape);
      const dup = memory.zeros(gate.shape);
      const [g, u, d] = [gate.f32, up.f32, dy.f32];
      const [dg, du] = [dgate.f32, dup.f32];
      for (let i = 0; i < count; i++) {
        const sigmoid = 1 / (1 + Math.exp(-g[i]!));
        du[i] = d[i]! * g[i]! * sigmoid;
        dg[i] = d[i]! * u[i]! * sigmoid * (1 + g[i]! * (1 - sigmoid));
      }
      return { dgate, dup };
    },
    sigmoidGate(x, gate) {
      const count = checkSame("sigmoidGate", x, gate);
      const y = memory.zeros(x.shape);
      const [input, g, out] = [x.f32, gate.f32, y.f32];
      for (let i = 0; i < count; i++) out[i] = input[i]! / (1 + Math.exp(-g[i]!));
      return y;
    },
    sigmoidGateBackward(x, gate, dy) {
      const count = checkSame("sigmoidGateBackward", x, gate, dy);
      const dx = memory.zeros(x.shape);
      const dgate = memory.zeros(x.shape);
      const [input, g, d] = [x.f32, gate.f32, dy.f32];
      const [outX, outGate] = [dx.f32, dgate.f32];
      for (let i = 0; i < count; i++) {
        const sigmoid = 1 / (1 + Math.exp(-g[i]!));
        outX[i] = d[i]! * sigmoid;
        outGate[i] = d[i]! * input[i]! * sigmoid * (1 - sigmoid);
      }
      return { dx, dgate };
    },
    fill(t, value) {
      t.data.fill(value);
    },
  };
}
