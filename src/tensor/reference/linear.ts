import type { Backend } from "../backend.ts";
import {
  checkAddLinear,
  checkLinear,
  checkLinearBackwardInput,
  checkLinearBackwardWeight,
  checkLinearJoined,
  checkLinearSwiglu,
} from "../shapes.ts";
import type { NormOf } from "../tensor.ts";
import { columnOperations } from "./columns.ts";
import { elementwiseOperations } from "./elementwise.ts";
import { matrix, multiply, transposed } from "./matmul.ts";
import type { HostMemory, HostTensor } from "./memory.ts";
import { normOperations } from "./norm.ts";

type Linear =
  | "linear"
  | "linearJoined"
  | "linearSwiglu"
  | "addLinear"
  | "linearBackwardInput"
  | "linearBackwardWeight";

/** Products with a weight [N,K] (out, in) and their two gradients. */
export function linearOperations(memory: HostMemory): Pick<Backend<HostTensor>, Linear> {
  const { swiglu, addInPlace } = elementwiseOperations(memory);
  const { rmsNorm } = normOperations(memory);
  const { joinColumns } = columnOperations(memory);

  function multiplyEach(
    x: HostTensor,
    weights: readonly HostTensor[],
    norm?: NormOf<HostTensor>,
  ): HostTensor[] {
    if (norm === undefined) return weights.map((w) => operations.linear(x, w));
    const { y, rstd } = rmsNorm(x, norm.weight, norm.epsilon, norm.offset);
    const products = multiplyEach(y, weights);
    memory.free(y, rstd);
    return products;
  }

  const operations: ReturnType<typeof linearOperations> = {
    linear(x, w, fine) {
      const { m, n, k } = checkLinear("linear", x, w, fine);
      const y = memory.zeros([m, n]);
      multiply(matrix(y.f32, n), matrix(x.f32, k), transposed(matrix(w.f32, k)), m, n, k, false);
      return y;
    },
    linearJoined(x, weights, norm) {
      checkLinearJoined(x, weights, norm);
      const products = multiplyEach(x, weights, norm);
      const y = joinColumns(products);
      memory.free(...products);
      return y;
    },
    linearSwiglu(x, gate, up, norm) {
      checkLinearSwiglu(x, gate, up, norm);
      const [a, b] = multiplyEach(x, [gate, up], norm) as [HostTensor, HostTensor];
      const y = swiglu(a, b);
      memory.free(a, b);
      return y;
    },
    addLinear(y, x, w) {
      checkAddLinear(y, x, w);
      const product = operations.linear(x, w);
      addInPlace(y, product);
      memory.free(product);
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
