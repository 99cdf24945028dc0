import type { Backend } from "../backend.ts";
import { checkRmsNorm, checkRmsNormBackward } from "../shapes.ts";
import type { HostMemory, HostTensor } from "./memory.ts";

export function normOperations(memory: HostMemory): Pick<Backend<HostTensor>, "rmsNorm" | "rmsNormBackward"> {
  return {
    rmsNorm(x, w, eps) {
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
        for (let j = 0; j < width; j++) out[at + j] = input[at + j]! * factor * weight[j]!;
      }
      return { y, rstd };
    },
    // With n = x·rstd and g = dy·w: dx = rstd (g − n·mean(g·n)), dw = Σ dy·n.
    rmsNormBackward(dw, dy, x, w, rstd) {
      const { rows, width } = checkRmsNormBackward(dw, dy, x, w, rstd);
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
          dot += product * weight[j]!;
        }
        const mean = dot / width;
        for (let j = 0; j < width; j++)
          out[at + j] = factor * (d[at + j]! * weight[j]! - input[at + j]! * factor * mean);
      }
      const total = dw.f32;
      for (let j = 0; j < width; j++) total[j] = total[j]! + sums[j]!;
      return dx;
    },
  };
}
