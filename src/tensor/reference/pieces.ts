import { checkPiece, type PieceTransfer } from "../pieces.ts";
import type { HostTensor } from "./memory.ts";

/** Pieces of tensors in ordinary memory; what is added comes through memory that is kept until `release`. */
export function hostPieces(): PieceTransfer<HostTensor> {
  const idle: ArrayBuffer[] = [];
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
      if (how === "replace") {
        const { buffer, byteOffset, byteLength } = part(t, at, count);
        await fill(new Uint8Array(buffer, byteOffset, byteLength));
        return;
      }
      const place = idle.findIndex(({ byteLength }) => byteLength >= 4 * count);
      const memory = (place < 0 ? undefined : idle.splice(place, 1)[0]) ?? new ArrayBuffer(4 * count);
      const given = new Float32Array(memory, 0, count);
      await fill(new Uint8Array(memory, 0, 4 * count));
      const values = part(t, at, count);
      for (let i = 0; i < count; i++) values[i]! += given[i]!;
      idle.push(memory);
    },
    release() {
      idle.length = 0;
    },
  };
}
