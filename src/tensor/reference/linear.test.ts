import { expect, test } from "vitest";
import { randomValues } from "../../../test/random.ts";
import { createReferenceBackend } from "./index.ts";

function product(x: Float32Array, w: Float32Array, m: number, n: number, k: number): Float64Array {
  const y = new Float64Array(m * n);
  for (let i = 0; i < m; i++)
    for (let j = 0; j < n; j++) for (let p = 0; p < k; p++) y[i * n + j]! += x[i * k + p]! * w[j * k + p]!;
  return y;
}

function close(actual: Float32Array, expected: Float64Array): void {
  expect(actual.length).toBe(expected.length);
  for (let i = 0; i < actual.length; i++) expect(Math.abs(actual[i]! - expected[i]!)).toBeLessThan(1e-6);
}

const sizes = [
  [1, 1, 1],
  [1, 7, 5],
  [3, 8, 4],
  [4, 4, 4],
  [5, 9, 3],
  [17, 6, 33],
] as const;

test.each(sizes)("linear and both gradients of %i×%i×%i equal the plain sums", async (m, n, k) => {
  const backend = createReferenceBackend();
  const x = randomValues(m * k, 1);
  const w = randomValues(n * k, 2);
  const dy = randomValues(m * n, 3);
  const before = randomValues(n * k, 4);
  const [tx, tw] = [backend.fromArray(x, [m, k]), backend.fromArray(w, [n, k])];
  const [tdy, tdw] = [backend.fromArray(dy, [m, n]), backend.fromArray(before, [n, k])];
  close(await backend.read(backend.linear(tx, tw)), product(x, w, m, n, k));

  const dx = new Float64Array(m * k);
  const dw = Float64Array.from(before);
  for (let i = 0; i < m; i++)
    for (let j = 0; j < n; j++)
      for (let p = 0; p < k; p++) {
        dx[i * k + p]! += dy[i * n + j]! * w[j * k + p]!;
        dw[j * k + p]! += dy[i * n + j]! * x[i * k + p]!;
      }
  close(await backend.read(backend.linearBackwardInput(tdy, tw)), dx);
  backend.linearBackwardWeight(tdw, tdy, tx);
  close(await backend.read(tdw), dw);
});
