import { decodeFloats, encodeFloats } from "../number-format.ts";
import { checkPiece, type PieceTransfer, pieceBytes } from "../pieces.ts";
import type { HostTensor } from "./memory.ts";

/** Pieces of tensors in ordinary memory; what is added or rounded comes through memory that is kept until `release`. */
export function hostPieces(): PieceTransfer<HostTensor> {
  const idle: ArrayBuffer[] = [];
  const part = (t: HostTensor, at: number, count: number): Float32Array => {
    checkPiece(t, t.data.length, at, count);
    return t.f32.subarray(at, at + count);
  };
  return {
    async read(t, at, count, format, use) {
      const values = part(t, at, count);
      if (format === "f32") {
        await use(new Uint8Array(values.buffer, values.byteOffset, values.byteLength));
        return;
      }
      const bytes = encodeFloats("BF16", values);
      decodeFloats("BF16", bytes, values);
      await use(bytes);
    },
    async write(t, at, count, format, how, fill) {
      if (format === "f32" && how === "replace") {
        const { buffer, byteOffset, byteLength } = part(t, at, count);
        await fill(new Uint8Array(buffer, byteOffset, byteLength));
        return;
      }
      const place = idle.findIndex(({ byteLength }) => byteLength >= 4 * count);
      const memory = (place < 0 ? undefined : idle.splice(place, 1)[0]) ?? new ArrayBuffer(4 * count);
      const bytes = new Uint8Array(memory, 0, pieceBytes(count, format));
      await fill(bytes);
      const given = format === "f32" ? new Float32Array(memory, 0, count) : new Float32Array(count);
      if (format === "bf16") decodeFloats("BF16", bytes, given);
      const values = part(t, at, count);
      if (how === "replace") values.set(given);
      else for (let i = 0; i < count; i++) values[i]! += given[i]!;
      idle.push(memory);
    },
    release() {
      idle.length = 0;
    },
  };
}
