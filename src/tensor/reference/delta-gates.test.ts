import { expect, test } from "vitest";
import { expectGradient } from "../../../test/finite-difference.ts";
import { randomValues } from "../../../test/random.ts";
import { createReferenceBackend } from "./index.ts";

test("what is kept and the step, also far from zero", async () => {
  const backend = createReferenceBackend();
  const a = backend.fromArray(Float32Array.of(0, -30, 40), [3, 1]);
  const b = backend.fromArray(Float32Array.of(0, -100, 100), [3, 1]);
  const aLog = backend.fromArray(Float32Array.of(Math.log(2)), [1]);
  const bias = backend.fromArray(Float32Array.of(1), [1]);
  const gates = await backend.read(backend.deltaGates(a, b, aLog, bias));
  expect(gates[0]).toBeCloseTo(-2 * Math.log(1 + Math.E), 5);
  expect(gates[2]! / (-2 * Math.exp(-29))).toBeCloseTo(1, 5);
  expect(gates[4]).toBeCloseTo(-82, 4);
  expect([gates[1], gates[3], gates[5]].map((beta) => Math.round(beta! * 1e6) / 1e6)).toEqual([0.5, 0, 1]);
});

test("gradients", async () => {
  const backend = createReferenceBackend();
  const [tokens, heads] = [6, 3];
  const make = (seed: number, shape: number[]) =>
    backend.fromArray(
      randomValues(
        shape.reduce((x, y) => x * y, 1),
        seed,
      ),
      shape,
    );
  const [a, b] = [make(1, [tokens, heads]), make(2, [tokens, heads])];
  const [aLog, bias] = [make(3, [heads]), make(4, [heads])];
  const slope = randomValues(tokens * heads * 2, 5);
  const [daLog, dbias] = [backend.zeros([heads]), backend.zeros([heads])];
  const dgates = backend.fromArray(slope, [tokens, heads, 2]);
  const { da, db } = backend.deltaGatesBackward(daLog, dbias, dgates, a, b, aLog, bias);
  const forward = () => backend.deltaGates(a, b, aLog, bias);
  await expectGradient(backend, a, forward, slope, da);
  await expectGradient(backend, b, forward, slope, db);
  await expectGradient(backend, aLog, forward, slope, daLog);
  await expectGradient(backend, bias, forward, slope, dbias);
});
