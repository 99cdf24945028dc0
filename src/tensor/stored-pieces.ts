import { DeviceError } from "../core/errors.ts";
import { inTurn } from "../core/read-ahead.ts";
import type { Backend } from "./backend.ts";
import { encodeFloats, type FloatFormat } from "./number-format.ts";
import { elements } from "./shapes.ts";
import type { Tensor } from "./tensor.ts";

/** Values that are read from the device at a time: 8 MiB, since fresh memory comes faster in small pieces. */
export const READ_AT_ONCE = 2 ** 21;

/**
 * A tensor's values as a file stores them, in pieces: a large one is never in memory whole, and the next piece comes from
 * the device while one is used. `check` gets each piece and the place of its first value.
 */
export async function* storedPieces(
  backend: Backend,
  tensor: Tensor,
  format: FloatFormat,
  check: (values: Float32Array, at: number) => void = () => undefined,
): AsyncGenerator<Uint8Array, void> {
  let at = 0;
  for await (const values of inTurn(readsOf(backend, tensor), 1)) {
    check(values, at);
    at += values.length;
    // What was read is this generator's own.
    yield format === "F32" ? new Uint8Array(values.buffer) : encodeFloats(format, values);
  }
}

function* readsOf(backend: Backend, tensor: Tensor): Generator<() => Promise<Float32Array>, void> {
  const total = elements(tensor.shape);
  for (let at = 0; at < total; at += READ_AT_ONCE)
    yield () => readAgain(backend, tensor, { at, count: Math.min(READ_AT_ONCE, total - at) });
}

/** Times that a piece is read before its error is believed. */
const ATTEMPTS = 3;

/** A read may fail for what other work did on the device, or for memory that other work took. The next attempt is then right. */
async function readAgain(
  backend: Backend,
  tensor: Tensor,
  range: { at: number; count: number },
): Promise<Float32Array> {
  for (let attempt = 1; ; attempt += 1) {
    try {
      return await backend.read(tensor, range);
    } catch (error) {
      const mayPass = error instanceof DeviceError && error.fault !== "lost";
      if (!mayPass || attempt === ATTEMPTS) throw error;
    }
  }
}
