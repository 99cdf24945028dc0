import { expect } from "vitest";
import type { Backend } from "../src/tensor/backend.ts";
import type { Tensor } from "../src/tensor/tensor.ts";

/**
 * Compares a gradient with central differences of Σ slope · outputs(t) over every element of `t`. The sum is taken in
 * f64, so that the rounding of the f32 outputs is the only noise.
 */
export async function expectGradient<T extends Tensor>(
  backend: Backend<T>,
  t: T,
  outputs: () => T,
  slope: Float32Array,
  gradient: T,
  { step = 1e-2, tolerance = 2e-3 } = {},
): Promise<void> {
  const values = await backend.read(t);
  const actual = await backend.read(gradient);
  const objective = async (): Promise<number> => {
    const y = outputs();
    const data = await backend.read(y);
    backend.free(y);
    let sum = 0;
    for (let i = 0; i < data.length; i++) sum += data[i]! * slope[i]!;
    return sum;
  };
  const expected = new Float64Array(values.length);
  for (let i = 0; i < values.length; i++) {
    const moved = values.slice();
    moved[i] = values[i]! + step;
    const above = moved[i]!;
    backend.write(t, moved);
    const high = await objective();
    moved[i] = values[i]! - step;
    backend.write(t, moved);
    const low = await objective();
    expected[i] = (high - low) / (above - moved[i]!);
  }
  backend.write(t, values);
  const largest = expected.reduce((max, value) => Math.max(max, Math.abs(value)), 0);
  expect(largest).toBeGreaterThan(0);
  for (let i = 0; i < values.length; i++)
    expect(Math.abs(actual[i]! - expected[i]!), `element ${i}`).toBeLessThan(tolerance * largest);
}
