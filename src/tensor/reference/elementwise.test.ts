import { expect, test } from "vitest";
import { expectGradient } from "../../../test/finite-difference.ts";
import { randomValues } from "../../../test/random.ts";
import { createReferenceBackend } from "./index.ts";

test("add, addInPlace, fill", async () => {
  const backend = createReferenceBackend();
  const a = backend.fromArray(Float32Array.of(1, 2), [2]);
  const b = backend.fromArray(Float32Array.of(10, 20), [2]);
  expect([...(await backend.read(backend.add(a, b)))]).toEqual([11, 22]);
  backend.addInPlace(a, b);
  expect([...(await backend.read(a))]).toEqual([11, 22]);
  backend.fill(a, 3);
  expect([...(await backend.read(a))]).toEqual([3, 3]);
});

test("swiglu and its gradient", async () => {
  const backend = createReferenceBackend();
  const gate = backend.fromArray(randomValues(15, 1, 4), [3, 5]);
  const up = backend.fromArray(randomValues(15, 2), [3, 5]);
  const slope = randomValues(15, 3);
  const one = backend.swiglu(
    backend.fromArray(Float32Array.of(2, -100), [1, 2]),
    backend.fromArray(Float32Array.of(3, 1), [1, 2]),
  );
  const [first, last] = await backend.read(one);
  expect(first).toBeCloseTo(6 / (1 + Math.exp(-2)), 5);
  expect(last).toBeCloseTo(0, 10);
  const { dgate, dup } = backend.swigluBackward(gate, up, backend.fromArray(slope, [3, 5]));
  await expectGradient(backend, gate, () => backend.swiglu(gate, up), slope, dgate);
  await expectGradient(backend, up, () => backend.swiglu(gate, up), slope, dup);
});

test("the sigmoid gate and its gradient", async () => {
  const backend = createReferenceBackend();
  const x = backend.fromArray(randomValues(15, 1), [3, 5]);
  const gate = backend.fromArray(randomValues(15, 2, 4), [3, 5]);
  const slope = randomValues(15, 3);
  const { dx, dgate } = backend.sigmoidGateBackward(x, gate, backend.fromArray(slope, [3, 5]));
  await expectGradient(backend, x, () => backend.sigmoidGate(x, gate), slope, dx);
  await expectGradient(backend, gate, () => backend.sigmoidGate(x, gate), slope, dgate);
});
