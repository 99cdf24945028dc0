import { expect, test } from "vitest";
import { expectGradient } from "../../../test/finite-difference.ts";
import { randomValues } from "../../../test/random.ts";
import { createReferenceBackend } from "./index.ts";

test("rmsNorm over the last dimension, and its gradients", async () => {
  const backend = createReferenceBackend();
  const x = backend.fromArray(randomValues(24, 1), [2, 3, 4]);
  const w = backend.fromArray(randomValues(4, 2), [4]);
  const slope = randomValues(24, 3);
  const eps = 0.05;
  const { y, rstd } = backend.rmsNorm(x, w, eps);
  const [input, weight, out, scale] = await Promise.all([x, w, y, rstd].map((t) => backend.read(t)));
  for (let r = 0; r < 6; r++) {
    const squares = [0, 1, 2, 3].reduce((sum, j) => sum + input![r * 4 + j]! ** 2, 0);
    expect(scale![r]).toBeCloseTo(1 / Math.sqrt(squares / 4 + eps), 5);
    expect(out![r * 4 + 1]).toBeCloseTo(input![r * 4 + 1]! * scale![r]! * weight![1]!, 5);
  }
  const dw = backend.zeros([4]);
  const dx = backend.rmsNormBackward(dw, backend.fromArray(slope, [2, 3, 4]), x, w, rstd);
  const forward = () => backend.rmsNorm(x, w, eps).y;
  await expectGradient(backend, x, forward, slope, dx);
  await expectGradient(backend, w, forward, slope, dw);
});

test("weights stored around zero, and a constant weight", async () => {
  const backend = createReferenceBackend();
  const x = backend.fromArray(randomValues(12, 1), [3, 4]);
  const w = backend.fromArray(randomValues(4, 2), [4]);
  const slope = randomValues(12, 3);
  const plain = backend.fromArray(
    (await backend.read(w)).map((value) => 1 + value),
    [4],
  );
  const centred = await backend.read(backend.rmsNorm(x, w, 0.05, 1).y);
  const expected = await backend.read(backend.rmsNorm(x, plain, 0.05).y);
  for (const [i, value] of expected.entries()) expect(centred[i]).toBeCloseTo(value, 6);
  const { rstd } = backend.rmsNorm(x, w, 0.05, 1);
  const dw = backend.zeros([4]);
  const dy = backend.fromArray(slope, [3, 4]);
  const dx = backend.rmsNormBackward(dw, dy, x, w, rstd, null, 1);
  const forward = () => backend.rmsNorm(x, w, 0.05, 1).y;
  await expectGradient(backend, x, forward, slope, dx);
  await expectGradient(backend, w, forward, slope, dw);
  const constant = backend.rmsNormBackward(null, dy, x, w, rstd, null, 1);
  expect([...(await backend.read(constant))]).toEqual([...(await backend.read(dx))]);
});
