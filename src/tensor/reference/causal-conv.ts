import type { Backend } from "../backend.ts";
import { type ConvSizes, checkCausalConv, checkCausalConvBackward } from "../delta-shapes.ts";
import type { HostMemory, HostTensor } from "./memory.ts";

export function causalConvOperations(
  memory: HostMemory,
): Pick<Backend<HostTensor>, "causalConv" | "causalConvBackward"> {
  return {
    causalConv(x, w, start) {
      const sizes = checkCausalConv("causalConv", x, w, start);
      const y = memory.zeros(x.shape);
      const out = y.f32;
      for (let i = 0; i < out.length; i++) {
        const sum = convolved(x.f32, w.f32, start.u32, sizes, i);
        out[i] = sum / (1 + Math.exp(-sum));
      }
      return y;
    },

    causalConvBackward(dw, dy, x, w, start, end) {
      const sizes = checkCausalConvBackward(dw, dy, x, w, start, end);
      const { tokens, channels, kernel } = sizes;
      const dx = memory.zeros(x.shape);
      const [input, weight, d, first, last] = [x.f32, w.f32, dy.f32, start.u32, end.u32];
      const slope = new Float64Array(tokens * channels);
      for (let i = 0; i < slope.length; i++) {
        const sum = convolved(input, weight, first, sizes, i);
        const sigmoid = 1 / (1 + Math.exp(-sum));
        slope[i] = d[i]! * sigmoid * (1 + sum * (1 - sigmoid));
      }
      const sums = new Float64Array(weight.length);
      for (let t = 0; t < tokens; t++)
        for (let c = 0; c < channels; c++) {
          let total = 0;
          for (let j = 0; j < kernel; j++) {
            // x[t] meets w[j] in the row that lies kernel − 1 − j later.
            const later = t + kernel - 1 - j;
            if (later < last[t]!) total += weight[c * kernel + j]! * slope[later * channels + c]!;
            const earlier = t - kernel + 1 + j;
            if (earlier >= first[t]!)
              sums[c * kernel + j]! += slope[t * channels + c]! * input[earlier * channels + c]!;
          }
          dx.f32[t * channels + c] = total;
        }
      const gradient = dw.f32;
      for (let i = 0; i < sums.length; i++) gradient[i] = gradient[i]! + sums[i]!;
      return dx;
    },
  };
}

/** The convolution before its SiLU, at element t·C + c. */
function convolved(
  x: Float32Array,
  w: Float32Array,
  start: Uint32Array,
  { channels, kernel }: ConvSizes,
  element: number,
): number {
  const t = Math.floor(element / channels);
  const c = element % channels;
  let sum = 0;
  for (let j = 0; j < kernel; j++) {
    const row = t - kernel + 1 + j;
    if (row >= start[t]!) sum += w[c * kernel + j]! * x[row * channels + c]!;
  }
  return sum;
}
