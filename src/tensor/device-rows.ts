/** Rows of tensors on the device: by their numbers, and put together. */
import type { Backend } from "./backend.ts";
import type { Tensor } from "./tensor.ts";

/** u32 [values]: row numbers, as `gatherRows` and others take them. */
export function rowNumbers(backend: Backend, values: readonly number[]): Tensor {
  return backend.fromArray(Uint32Array.from(values), [values.length]);
}

/** The rows of all parts, one after the other; a single part is given back itself. */
export function joinRows(backend: Backend, parts: readonly Tensor[]): Tensor {
  if (parts.length === 1) return parts[0]!;
  const count = parts.reduce((sum, { shape }) => sum + shape[0]!, 0);
  // Its values are undefined until the parts lie there, all of them.
  const all = backend.allocateWeight("f32", [count, ...parts[0]!.shape.slice(1)]);
  let at = 0;
  for (const part of parts) {
    backend.copyRows(all, at, part);
    at += part.shape[0]!;
  }
  return all;
}
