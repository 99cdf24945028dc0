import { checkPiece, type PieceTransfer } from "../pieces.ts";
import type { HostTensor } from "./memory.ts";

/** Pieces of tensors in ordinary memory. */
export function hostPieces(): PieceTransfer<HostTensor> {
  const part = (t: HostTensor, at: number, count: number): Float32Array => {
    checkPiece(t, t.data.length, at, count);
    return t.f32.subarray(at, at + count);
  };
  return {
    async read(t, at, count, use) {
      const { buffer, byteOffset, byteLength } = part(t, at, count);
      await use(new Uint8Array(buffer, byteOffset, byteLength));
    },
    async write(t, at, count, how, fill) {
      const given = new Float32Array(count);
      await fill(new Uint8Array(given.buffer));
      const values = part(t, at, count);
      if (how === "replace") values.set(given);
      else for (let i = 0; i < count; i++) values[i]! += given[i]!;
    },
    release() {},
  };
}
