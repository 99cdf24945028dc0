import { expect, test } from "vitest";
import { expectGradient } from "../../../test/finite-difference.ts";
import { randomValues } from "../../../test/random.ts";
import { createReferenceBackend } from "./index.ts";

test("a row meets itself and the rows before it in its own sequence", async () => {
  const backend = createReferenceBackend();
  const silu = (x: number) => x / (1 + Math.exp(-x));
  const x = backend.fromArray(Float32Array.of(1, 2, 3, 10), [4, 1]);
  const w = backend.fromArray(Float32Array.of(0.1, 0.01, 1), [1, 1, 3]);
  const start = backend.fromArray(Uint32Array.of(0, 0, 0, 3), [4]);
  const y = await backend.read(backend.causalConv(x, w, start));
  const expected = [1, 2.01, 3 + 0.02 + 0.1, 10].map(silu);
  for (const [i, value] of expected.entries()) expect(y[i]).toBeCloseTo(value, 5);
});

test.each([[[7]], [[2, 5, 1]]])("gradients over sequences of %j", async (lengths) => {
  const backend = createReferenceBackend();
  const channels = 3;
  const start: number[] = [];
  const end: number[] = [];
  for (const length of lengths) {
    const first = start.length;
    for (let i = 0; i < length; i++) {
      start.push(first);
      end.push(first + length);
    }
  }
  const n = start.length;
  const x = backend.fromArray(randomValues(n * channels, 1, 2), [n, channels]);
  const w = backend.fromArray(randomValues(channels * 4, 2), [channels, 1, 4]);
  const starts = backend.fromArray(Uint32Array.from(start), [n]);
  const ends = backend.fromArray(Uint32Array.from(end), [n]);
  const slope = randomValues(n * channels, 3);
  const dw = backend.zeros(w.shape);
  const dx = backend.causalConvBackward(dw, backend.fromArray(slope, x.shape), x, w, starts, ends);
  const forward = () => backend.causalConv(x, w, starts);
  await expectGradient(backend, x, forward, slope, dx);
  await expectGradient(backend, w, forward, slope, dw);
});
