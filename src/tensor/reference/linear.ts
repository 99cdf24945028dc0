import type { Backend } from "../backend.ts";
import { checkLinear, checkLinearBackwardInput, checkLinearBackwardWeight } from "../shapes.ts";
import { elementwiseOperations } from "./elementwise.ts";
import { matrix, multiply, transposed } from "./matmul.ts";
import type { HostMemory, HostTensor } from "./memory.ts";

/** Products with a weight [N,K] (out, in) and their two gradients. */
export function linearOperations(
  memory: HostMemory,
): Pick<
  Backend<HostTensor>,
  "linear" | "linearEach" | "linearSwiglu" | "linearBackwardInput" | "linearBackwardWeight"
> {
  const { swiglu } = elementwiseOperations(memory);
  const operations: ReturnType<typeof linearOperations> = {
    linear(x, w, fine) {
      const { m, n, k } = checkLinear("linear", x, w, fine);
      const y = memory.zeros([m, n]);
      multiply(matrix(y.f32, n), matrix(x.f32, k), transposed(matrix(w.f32, k)), m, n, k, false);
      return y;
    },
    linearEach: (x, weights) => weights.map((w) => operations.linear(x, w)),
    linearSwiglu(x, gate, up) {
      const [a, b] = [operations.linear(x, gate), operations.linear(x, up)];
      const y = swiglu(a, b);
      memory.free(a, b);
      return y;
    },
    linearBackwardInput(dy, w) {
      const { m, n, k } = checkLinearBackwardInput(dy, w);
      const dx = memory.zeros([m, k]);
      multiply(matrix(dx.f32, k), matrix(dy.f32, n), matrix(w.f32, k), m, k, n, false);
      return dx;
    },
    linearBackwardWeight(dw, dy, x) {
      const { m, n, k } = checkLinearBackwardWeight(dw, dy, x);
      multiply(matrix(dw.f32, k), transposed(matrix(dy.f32, n)), matrix(x.f32, k), n, k, m, true);
    },
  };
  return operations;
}
