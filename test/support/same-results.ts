import { expect } from "vitest";
import type { Backend } from "../../src/tensor/backend.ts";
import { createReferenceBackend } from "../../src/tensor/reference/index.ts";
import type { Tensor } from "../../src/tensor/tensor.ts";
import { relativeError } from "./relative-error.ts";

/**
 * Runs `work` on a backend and on the reference, and compares every tensor that it returns: shape, finiteness, and
 * relative L2 error. Inputs made in `work` must be the same each time. Nothing may stay allocated.
 */
export async function expectSameResults<T extends Tensor>(
  backend: Backend<T>,
  work: <B extends Tensor>(b: Backend<B>) => Record<string, B>,
  bound = 1e-5,
): Promise<void> {
  const before = backend.live();
  const run = async <B extends Tensor>(b: Backend<B>) => {
    const kept = b.scope((keep) => {
      const results = work(b);
      for (const t of Object.values(results)) keep(t);
      return results;
    });
    const values: Record<string, { shape: readonly number[]; data: Float32Array }> = {};
    for (const [name, t] of Object.entries(kept)) values[name] = { shape: t.shape, data: await b.read(t) };
    b.free(...Object.values(kept));
    return values;
  };
  const [actual, expected] = [await run(backend), await run(createReferenceBackend())];
  expect(Object.keys(actual)).toEqual(Object.keys(expected));
  for (const [name, { shape, data }] of Object.entries(expected)) {
    const found = actual[name]!;
    expect(found.shape, name).toEqual(shape);
    expect(found.data.every(Number.isFinite), `${name} is finite`).toBe(true);
    expect(relativeError(found.data, data), name).toBeLessThan(bound);
  }
  expect(backend.live()).toEqual(before);
}
