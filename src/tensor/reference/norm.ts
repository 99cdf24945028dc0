import type { Backend } from "../backend.ts";
import { checkAddRmsNorm, checkRmsNorm, checkRmsNormBackward, checkRmsNormRope } from "../shapes.ts";
import { elementwiseOperations } from "./elementwise.ts";
import type { HostMemory, HostTensor } from "./memory.ts";
import { ropeOperations } from "./rope.ts";

type Norms = "rmsNorm" | "addRmsNorm" | "rmsNormRope" | "rmsNormBackward";

export function normOperations(memory: HostMemory): Pick<Backend<HostTensor>, Norms> {
  const { add } = elementwiseOperations(memory);
  const { rope } = ropeOperations(memory);
  const norms: Pick<Backend<HostTensor>, Norms> = {
    rmsNorm(x, w, eps, offset = 0) {
      const { rows, width } = checkRmsNorm("rmsNorm", x, w);
      const y = memory.zeros(x.shape);
      const rstd = memory.zeros([rows]);
      const [input, weight, out, scale] = [x.f32, w.f32, y.f32, rstd.f32];
      for (let r = 0; r < rows; r++) {
        const at = r * width;
        let squares = 0;
        for (let j = 0; j < width; j++) squares += input[at + j]! * input[at + j]!;
        const factor = 1 / Math.sqrt(squares / width + eps);
        scale[r] = factor;
        for (let j = 0; j < width; j++) out[at + j] = input[at + j]! * factor * (offset + weight[j]!);
      }
      return { y, rstd };
    },
    addRmsNorm(a, b, w, eps, offset) {
      checkAddRmsNorm(a, b, w);
      const sum = add(a, b);
      return { sum, ...norms.rmsNorm(sum, w, eps, offset) };
    },
    rmsNormRope(x, w, eps, cos, sin, positions, offset) {
      checkRmsNormRope(x, w, cos, sin, positions);
      const { y, rstd } = norms.rmsNorm(x, w, eps, offset);
      const turned = rope(y, cos, sin, positions);
      memory.free(y);
      return { y: turned, rstd };
    },
    // With n = x·rstd and g = dy·(offset + w): dx = rstd (g − n·mean(g·n)), dw = Σ dy·n.
    rmsNormBackward(dw, dy, x, w, rstd, plus = null, offset = 0) {
      const { rows, width } = checkRmsNormBackward(dw, dy, x, w, rstd, plus);
      const dx = memory.zeros(x.shape);
      const [input, weight, d, scale, out] = [x.f32, w.f32, dy.f32, rstd.f32, dx.f32];
      const sums = new Float64Array(width);
      for (let r = 0; r < rows; r++) {
        const at = r * width;
        const factor = scale[r]!;
        let dot = 0;
        for (let j = 0; j < width; j++) {
          const product = d[at + j]! * input[at + j]! * factor;
          sums[j] = sums[j]! + product;
          dot += product * (offset + weight[j]!);
        }
        const mean = dot / width;
        for (let j = 0; j < width; j++)
          out[at + j] = factor * (d[at + j]! * (offset + weight[j]!) - input[at + j]! * factor * mean);
      }
      if (plus !== null) for (let i = 0; i < out.length; i++) out[i] = out[i]! + plus.f32[i]!;
      if (dw === null) return dx;
      const total = dw.f32;
      for (let j = 0; j < width; j++) total[j] = total[j]! + sums[j]!;
      return dx;
    },
  };
  return norms;
}
