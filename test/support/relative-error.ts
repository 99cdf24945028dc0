/** ‖actual − expected‖ / ‖expected‖ (the plain norm of the difference where all expected values are 0). */
export function relativeError(actual: Float32Array, expected: Float32Array): number {
  if (actual.length !== expected.length) return Number.POSITIVE_INFINITY;
  let difference = 0;
  let size = 0;
  for (let i = 0; i < expected.length; i++) {
    difference += (actual[i]! - expected[i]!) ** 2;
    size += expected[i]! ** 2;
  }
  return Math.sqrt(difference / (size === 0 ? 1 : size));
}
