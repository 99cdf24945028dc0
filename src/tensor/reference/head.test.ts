import { expect, test } from "vitest";
import { expectGradient } from "../../../test/finite-difference.ts";
import { randomValues } from "../../../test/random.ts";
import { createReferenceBackend } from "./index.ts";

// More rows than one tile holds, so that the seams are tested too.
const [rows, vocabulary, width] = [35, 7, 3];

test("log-probabilities of the targets", async () => {
  const backend = createReferenceBackend();
  const h = randomValues(rows * width, 1, 3);
  const w = randomValues(vocabulary * width, 2, 3);
  const targets = Uint32Array.from({ length: rows }, (_, r) => (r * 3) % vocabulary);
  const { logprobs, lse } = backend.headLogprobs(
    backend.fromArray(h, [rows, width]),
    backend.fromArray(w, [vocabulary, width]),
    backend.fromArray(targets, [rows]),
  );
  const [actual, sums] = [await backend.read(logprobs), await backend.read(lse)];
  for (let r = 0; r < rows; r++) {
    const logits = Array.from({ length: vocabulary }, (_, i) =>
      [0, 1, 2].reduce((sum, j) => sum + h[r * width + j]! * w[i * width + j]!, 0),
    );
    const sum = Math.log(logits.reduce((total, x) => total + Math.exp(x), 0));
    expect(sums[r]).toBeCloseTo(sum, 5);
    expect(actual[r]).toBeCloseTo(logits[targets[r]!]! - sum, 5);
  }
});

test("gradients of hidden rows and head weights, also with frozen weights", async () => {
  const backend = createReferenceBackend();
  const h = backend.fromArray(randomValues(rows * width, 1), [rows, width]);
  const w = backend.fromArray(randomValues(vocabulary * width, 2), [vocabulary, width]);
  const targets = backend.fromArray(
    Uint32Array.from({ length: rows }, (_, r) => (r * 3) % vocabulary),
    [rows],
  );
  const slope = randomValues(rows, 3);
  const c = backend.fromArray(slope, [rows]);
  const { lse } = backend.headLogprobs(h, w, targets);
  const dw = backend.zeros([vocabulary, width]);
  const dh = backend.headBackward(dw, h, w, targets, lse, c);
  const forward = () => backend.headLogprobs(h, w, targets).logprobs;
  await expectGradient(backend, h, forward, slope, dh);
  await expectGradient(backend, w, forward, slope, dw);
  const frozen = backend.headBackward(null, h, w, targets, lse, c);
  expect([...(await backend.read(frozen))]).toEqual([...(await backend.read(dh))]);
});
