import { expect, test } from "vitest";
import { expectGradient } from "../../../test/finite-difference.ts";
import { randomValues } from "../../../test/random.ts";
import type { Backend } from "../backend.ts";
import type { Tensor } from "../tensor.ts";
import { createReferenceBackend } from "./index.ts";

const [keyHeads, valueHeads, dk, dv] = [2, 4, 3, 5];

function inputs(backend: Backend, lengths: readonly number[]) {
  const n = lengths.reduce((sum, length) => sum + length, 0);
  const make = (seed: number, shape: number[], scale = 1): Tensor =>
    backend.fromArray(
      randomValues(
        shape.reduce((a, b) => a * b, 1),
        seed,
        scale,
      ),
      shape,
    );
  const gates = randomValues(n * valueHeads * 2, 4).map((value, i) =>
    i % 2 === 0 ? -0.8 * Math.abs(value) : 0.5 + 0.4 * value,
  );
  const offsets = [0];
  for (const length of lengths) offsets.push(offsets.at(-1)! + length);
  return {
    n,
    q: make(1, [n, keyHeads, dk]),
    k: make(2, [n, keyHeads, dk], 0.6),
    v: make(3, [n, valueHeads, dv]),
    gates: backend.fromArray(gates, [n, valueHeads, 2]),
    sequences: backend.fromArray(Uint32Array.from(offsets), [offsets.length]),
    offsets,
  };
}

test("outputs are the equations', sequence by sequence", async () => {
  const backend = createReferenceBackend();
  const { n, q, k, v, gates, sequences, offsets } = inputs(backend, [5, 1, 7]);
  const [tq, tk, tv, tg] = await Promise.all([q, k, v, gates].map((t) => backend.read(t)));
  const actual = await backend.read(backend.deltaRule(q, k, v, gates, sequences).o);
  for (let head = 0; head < valueHeads; head++) {
    let state: number[][] = [];
    for (let t = 0; t < n; t++) {
      if (offsets.includes(t)) state = Array.from({ length: dk }, () => Array(dv).fill(0) as number[]);
      const keyAt = (t * keyHeads + Math.floor(head / 2)) * dk;
      const valueAt = (t * valueHeads + head) * dv;
      const [g, beta] = [tg![2 * (t * valueHeads + head)]!, tg![2 * (t * valueHeads + head) + 1]!];
      const decayed = state.map((row) => row.map((value) => value * Math.exp(g)));
      const key = (i: number) => tk![keyAt + i]!;
      const delta = Array.from({ length: dv }, (_, j) => {
        const known = decayed.reduce((sum, row, i) => sum + row[j]! * key(i), 0);
        return beta * (tv![valueAt + j]! - known);
      });
      state = decayed.map((row, i) => row.map((value, j) => value + key(i) * delta[j]!));
      for (let j = 0; j < dv; j++) {
        const expected = state.reduce((sum, row, i) => sum + row[j]! * tq![keyAt + i]!, 0);
        expect(Math.abs(actual[valueAt + j]! - expected), `${t} ${head} ${j}`).toBeLessThan(1e-6);
      }
    }
  }
});

test("a state carried over from one call to the next gives the same outputs", async () => {
  const backend = createReferenceBackend();
  const { n, q, k, v, gates, sequences } = inputs(backend, [9]);
  const whole = await backend.read(backend.deltaRule(q, k, v, gates, sequences).o);
  const state = backend.zeros([1, valueHeads, dk, dv]);
  const parts: number[] = [];
  for (const [from, count] of [
    [0, 4],
    [4, 1],
    [5, 4],
  ] as const) {
    const cut = (t: Tensor) => {
      const rows = backend.fromArray(
        Uint32Array.from({ length: count }, (_, i) => from + i),
        [count],
      );
      const [, ...rest] = t.shape as [number, ...number[]];
      const width = rest.reduce((a, b) => a * b, 1);
      const picked = backend.gatherRows(backend.reshape(t, [n, width]), rows);
      backend.reshape(t, [n, ...rest]);
      return backend.reshape(picked, [count, ...rest]);
    };
    const range = backend.fromArray(Uint32Array.of(0, count), [2]);
    parts.push(
      ...(await backend.read(backend.deltaRule(cut(q), cut(k), cut(v), cut(gates), range, state).o)),
    );
  }
  expect(parts.length).toBe(whole.length);
  for (const [i, value] of parts.entries()) expect(Math.abs(value - whole[i]!)).toBeLessThan(1e-6);
});

// The last one is longer than the chunks of the backward pass.
test.each([[[6]], [[3, 1, 4]], [[66]]])("gradients over sequences of %j", async (lengths) => {
  const backend = createReferenceBackend();
  const { n, q, k, v, gates, sequences } = inputs(backend, lengths);
  const slope = randomValues(n * valueHeads * dv, 5);
  const { o, errors } = backend.deltaRule(q, k, v, gates, sequences);
  const dout = backend.fromArray(slope, v.shape);
  const d = backend.deltaRuleBackward(dout, q, k, v, gates, sequences, o, errors);
  const forward = () => backend.deltaRule(q, k, v, gates, sequences).o;
  if (n > 60) {
    // Too many elements for all of them: the gates go through everything.
    await expectGradient(backend, gates, forward, slope, d.dgates, { tolerance: 5e-3 });
    return;
  }
  await expectGradient(backend, q, forward, slope, d.dq);
  await expectGradient(backend, k, forward, slope, d.dk);
  await expectGradient(backend, v, forward, slope, d.dv);
  await expectGradient(backend, gates, forward, slope, d.dgates);
});

test("sequences that do not end at the last row are refused", () => {
  const backend = createReferenceBackend();
  const { q, k, v, gates } = inputs(backend, [4]);
  const short = backend.fromArray(Uint32Array.of(0, 3), [2]);
  expect(() => backend.deltaRule(q, k, v, gates, short)).toThrow("the sequences end at 3 of 4 rows");
  expect(() => backend.deltaRule(q, k, q, gates, short)).toThrow("deltaRule: expected q and k [T,G,dk]");
});
