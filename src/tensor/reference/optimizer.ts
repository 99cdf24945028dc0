import type { Backend } from "../backend.ts";
import { checkSame } from "../shapes.ts";
import type { HostMemory, HostTensor } from "./memory.ts";

export function optimizerOperations(memory: HostMemory): Pick<Backend<HostTensor>, "sumSquares" | "adamw"> {
  return {
    sumSquares(tensors) {
      let total = 0;
      for (const t of tensors) {
        const data = t.f32;
        for (let i = 0; i < data.length; i++) total += data[i]! * data[i]!;
      }
      return memory.adopt(new Float32Array([total]), [1]);
    },
    adamw(parameters, { learningRate, beta1, beta2, epsilon, weightDecay, step, gradScale }) {
      const rate = learningRate / (1 - beta1 ** step);
      const correction = Math.sqrt(1 - beta2 ** step);
      const decay = 1 - learningRate * weightDecay;
      for (const { p, g, m, v } of parameters) {
        const count = checkSame("adamw", p, g, m, v);
        const [values, gradient, first, second] = [p.f32, g.f32, m.f32, v.f32];
        for (let i = 0; i < count; i++) {
          const slope = gradient[i]! * gradScale;
          const mean = beta1 * first[i]! + (1 - beta1) * slope;
          const square = beta2 * second[i]! + (1 - beta2) * slope * slope;
          first[i] = mean;
          second[i] = square;
          values[i] = values[i]! * decay - (rate * mean) / (Math.sqrt(square) / correction + epsilon);
        }
      }
    },
  };
}
