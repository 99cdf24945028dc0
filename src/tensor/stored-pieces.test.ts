import { expect, it, vi } from "vitest";
import { decodeFloats } from "./number-format.ts";
import { createReferenceBackend } from "./reference/index.ts";
import { READ_AT_ONCE, storedPieces } from "./stored-pieces.ts";

it("reads a large tensor piece by piece, and checks each", async () => {
  const backend = createReferenceBackend();
  const count = READ_AT_ONCE + 3;
  const values = Float32Array.from({ length: count }, (_, i) => i % 1000);
  const read = vi.spyOn(backend, "read");
  const checked: [number, number][] = [];
  let at = 0;
  for await (const bytes of storedPieces(backend, backend.fromArray(values, [count]), "F32", (piece, from) =>
    checked.push([from, piece.length]),
  )) {
    const piece = new Float32Array(bytes.length / 4);
    decodeFloats("F32", bytes, piece);
    expect(
      Buffer.compare(Buffer.from(piece.buffer), Buffer.from(values.slice(at, at + piece.length).buffer)),
    ).toBe(0);
    at += piece.length;
  }
  expect(at).toBe(count);
  expect(checked).toEqual([
    [0, READ_AT_ONCE],
    [READ_AT_ONCE, 3],
  ]);
  expect(read).toHaveBeenCalledTimes(2);
});
