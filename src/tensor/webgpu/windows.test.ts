import { afterAll, beforeAll, expect, test } from "vitest";
import { randomValues } from "../../../test/random.ts";
import { expectSameResults } from "../../../test/support/same-results.ts";
import { openGpu } from "../../../test/webgpu.ts";
import { createWebGpuBackend, type WebGpuBackend } from "./index.ts";

/** As if a device bound 64 KiB at most: tensors of some ten thousand values are then long ones. */
const LIMIT = 65_536;
let backend: WebGpuBackend;
beforeAll(async () => {
  backend = await createWebGpuBackend(await openGpu(), { bindingLimit: LIMIT });
});
afterAll(() => backend.dispose());

test("each value: fill, sums, products of gates, and both gradients", async () => {
  const [t, f] = [350, 100];
  await expectSameResults(backend, (b) => {
    const [gate, up, dy] = [1, 2, 3].map((seed) => b.fromArray(randomValues(t * f, seed), [t, f]));
    const filled = b.zeros([t, f]);
    b.fill(filled, 1.5);
    b.addInPlace(filled, gate!);
    const { dgate, dup } = b.swigluBackward(gate!, up!, dy!);
    return { filled, sum: b.add(gate!, up!), y: b.swiglu(gate!, up!), dgate, dup };
  });
});

test("the optimizer and the sum of squares", async () => {
  const size = 36_000;
  await expectSameResults(backend, (b) => {
    const [p, g, m] = [1, 2, 3].map((seed) => b.fromArray(randomValues(size, seed), [360, 100]));
    const v = b.fromArray(
      randomValues(size, 4).map((x) => x * x),
      [360, 100],
    );
    const step = { learningRate: 0.1, beta1: 0.9, beta2: 0.999, epsilon: 1e-8, weightDecay: 0.1, step: 3 };
    b.adamw([{ p: p!, g: g!, m: m!, v }], { ...step, gradScale: 0.5 });
    return { p: p!, m: m!, v, squares: b.sumSquares([p!, g!]) };
  });
});

test("linear layers whose weight, input and output are all long", async () => {
  const [m, n, k] = [300, 130, 130];
  await expectSameResults(backend, (b) => {
    const x = b.fromArray(randomValues(m * k, 1), [m, k]);
    const w = b.fromArray(randomValues(n * k, 2), [n, k]);
    const dy = b.fromArray(randomValues(m * n, 3), [m, n]);
    const dw = b.fromArray(randomValues(n * k, 4), [n, k]);
    b.linearBackwardWeight(dw, dy, x);
    return { y: b.linear(x, w), dx: b.linearBackwardInput(dy, w), dw };
  });
});

test("embedding and head of a long vocabulary, forward and backward", async () => {
  const [vocabulary, width, rows] = [1030, 36, 9];
  const ids = Uint32Array.from({ length: 70 }, (_, i) => (i * 397) % vocabulary);
  await expectSameResults(backend, (b) => {
    const table = b.fromArray(randomValues(vocabulary * width, 1), [vocabulary, width]);
    const dtable = b.fromArray(randomValues(vocabulary * width, 2), [vocabulary, width]);
    const dy = b.fromArray(randomValues(ids.length * width, 3), [ids.length, width]);
    b.embeddingBackward(dtable, ids, dy);
    const h = b.fromArray(randomValues(rows * width, 4), [rows, width]);
    const targets = b.fromArray(ids.slice(3, 3 + rows), [rows]);
    const c = b.fromArray(randomValues(rows, 5), [rows]);
    const dw = b.zeros([vocabulary, width]);
    const { logprobs, lse } = b.headLogprobs(h, table, targets);
    const dh = b.headBackward(dw, h, table, targets, lse, c);
    return { y: b.embedding(table, b.fromArray(ids, [ids.length])), dtable, logprobs, lse, dh, dw };
  });
});

test("reads, writes and copies", async () => {
  const values = randomValues(20_000, 1);
  const t = backend.zeros([200, 100]);
  backend.write(t, values);
  const into = backend.zeros([300, 100]);
  backend.copyRows(into, 50, t);
  expect(await backend.read(t)).toEqual(values);
  expect(await backend.read(into, { at: 5000, count: 20_000 })).toEqual(values);
  backend.free(t, into);
});

test("an operation that does not go through windows says what it would need to bind", () => {
  const x = backend.zeros([1280, 128]);
  const w = backend.zeros([128]);
  expect(() => backend.rmsNorm(x, w, 1e-6)).toThrow(
    "a tensor [1280, 128] takes 0.6 MiB in one binding, but this WebGPU device binds at most 0.1 MiB",
  );
});
