import type { Backend } from "../backend.ts";
import { checkRope } from "../shapes.ts";
import type { HostMemory, HostTensor } from "./memory.ts";

export function ropeOperations(memory: HostMemory): Pick<Backend<HostTensor>, "rope"> {
  return {
    rope(x, cos, sin, positions, inverse = false) {
      const { tokens, heads, size, half } = checkRope(x, cos, sin, positions);
      const y = memory.zeros(x.shape);
      const [input, out, c, s, position] = [x.f32, y.f32, cos.f32, sin.f32, positions.u32];
      const sign = inverse ? -1 : 1;
      for (let t = 0; t < tokens; t++) {
        const p = position[t]!;
        if (p >= cos.shape[0]!) throw new Error(`rope: position ${p} of ${cos.shape[0]} in the tables`);
        for (let h = 0; h < heads; h++) {
          const at = (t * heads + h) * size;
          for (let i = 0; i < half; i++) {
            const cosine = c[p * half + i]!;
            const sine = sign * s[p * half + i]!;
            const a = input[at + i]!;
            const b = input[at + half + i]!;
            out[at + i] = a * cosine - b * sine;
            out[at + half + i] = b * cosine + a * sine;
          }
          for (let i = 2 * half; i < size; i++) out[at + i] = input[at + i]!;
        }
      }
      return y;
    },
  };
}
