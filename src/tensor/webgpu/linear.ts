import type { Backend } from "../backend.ts";
import { checkLinear, checkLinearBackwardInput, checkLinearBackwardWeight } from "../shapes.ts";
import type { Context } from "./context.ts";
import { accumulateTN, multiplyNN, multiplyNT } from "./matmul.ts";
import type { GpuTensor } from "./memory.ts";

export function linearOperations(
  context: Context,
): Pick<Backend<GpuTensor>, "linear" | "linearBackwardInput" | "linearBackwardWeight"> {
  const { memory } = context;
  return {
    linear(x, w) {
      const { m, n, k } = checkLinear("linear", x, w);
      const y = memory.allocate([m, n], "f32");
      multiplyNT(context, {
        a: { tensor: x, row: k },
        b: { tensor: w, row: k },
        c: { tensor: y, row: n },
        m,
        n,
        k,
      });
      return y;
    },
    linearBackwardInput(dy, w) {
      const { m, n, k } = checkLinearBackwardInput(dy, w);
      const dx = memory.allocate([m, k], "f32");
      multiplyNN(context, {
        a: { tensor: dy, row: n },
        b: { tensor: w, row: k },
        c: { tensor: dx, row: k },
        m,
        n: k,
        k: n,
      });
      return dx;
    },
    linearBackwardWeight(dw, dy, x) {
      const { m, n, k } = checkLinearBackwardWeight(dw, dy, x);
      accumulateTN(context, {
        a: { tensor: dy, row: n },
        b: { tensor: x, row: k },
        c: { tensor: dw, row: k },
        m: n,
        n: k,
        k: m,
      });
    },
  };
}
