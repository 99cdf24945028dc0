import { expect, test } from "vitest";
import { expectGradient } from "../../../test/finite-difference.ts";
import { randomValues } from "../../../test/random.ts";
import { createReferenceBackend } from "./index.ts";

test("rope turns the pair (i, i + D/2); the inverse is its gradient", async () => {
  const backend = createReferenceBackend();
  const angles = [0, 0, 0.3, 0.7, 0.6, 1.4];
  const cos = backend.fromArray(Float32Array.from(angles, Math.cos), [3, 2]);
  const sin = backend.fromArray(Float32Array.from(angles, Math.sin), [3, 2]);
  const positions = backend.fromArray(Uint32Array.of(2, 0), [2]);
  const x = backend.fromArray(randomValues(24, 1), [2, 3, 4]);
  const slope = randomValues(24, 2);
  const before = await backend.read(x);
  const after = await backend.read(backend.rope(x, cos, sin, positions));
  expect(after[1]).toBeCloseTo(before[1]! * Math.cos(1.4) - before[3]! * Math.sin(1.4), 5);
  expect(after[3]).toBeCloseTo(before[3]! * Math.cos(1.4) + before[1]! * Math.sin(1.4), 5);
  expect([...after.slice(12)]).toEqual([...before.slice(12)]);
  const gradient = backend.rope(backend.fromArray(slope, [2, 3, 4]), cos, sin, positions, true);
  await expectGradient(backend, x, () => backend.rope(x, cos, sin, positions), slope, gradient);
  const far = backend.fromArray(Uint32Array.of(3, 0), [2]);
  expect(() => backend.rope(x, cos, sin, far)).toThrow("position 3 of 3");
});

test("narrower tables turn the first numbers of a head and leave the rest", async () => {
  const backend = createReferenceBackend();
  const angles = [0.3, 0.7];
  const cos = backend.fromArray(Float32Array.from(angles, Math.cos), [2, 1]);
  const sin = backend.fromArray(Float32Array.from(angles, Math.sin), [2, 1]);
  const positions = backend.fromArray(Uint32Array.of(1), [1]);
  const x = backend.fromArray(Float32Array.of(1, 2, 3, 4, 5, 6), [1, 1, 6]);
  const [a, b, ...rest] = await backend.read(backend.rope(x, cos, sin, positions));
  expect(a).toBeCloseTo(Math.cos(0.7) - 2 * Math.sin(0.7), 5);
  expect(b).toBeCloseTo(2 * Math.cos(0.7) + Math.sin(0.7), 5);
  expect(rest).toEqual([3, 4, 5, 6]);
  const slope = randomValues(6, 2);
  const gradient = backend.rope(backend.fromArray(slope, [1, 1, 6]), cos, sin, positions, true);
  await expectGradient(backend, x, () => backend.rope(x, cos, sin, positions), slope, gradient);
});
