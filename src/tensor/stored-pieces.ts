import type { Backend } from "./backend.ts";
import { encodeFloats, type FloatFormat } from "./number-format.ts";
import { elements } from "./shapes.ts";
import type { Tensor } from "./tensor.ts";

/** Values that are read from the device at a time: 64 MiB. */
export const READ_AT_ONCE = 2 ** 24;

/**
 * A tensor's values as a file stores them, in pieces: a large one is never in memory whole. `check` gets each piece and
 * the place of its first value.
 */
export async function* storedPieces(
  backend: Backend,
  tensor: Tensor,
  format: FloatFormat,
  check: (values: Float32Array, at: number) => void = () => undefined,
): AsyncGenerator<Uint8Array, void> {
  const total = elements(tensor.shape);
  for (let at = 0; at < total; at += READ_AT_ONCE) {
    const values = await backend.read(tensor, { at, count: Math.min(READ_AT_ONCE, total - at) });
    check(values, at);
    yield encodeFloats(format, values);
  }
}
