import type { Tensor } from "./tensor.ts";

/** How values travel: as they are, or rounded to the nearest bf16, ties to even. */
export type PieceFormat = "f32" | "bf16";

/**
 * Parts of f32 tensors between a device and the host, for sums over several devices: no array of a whole tensor is
 * made, several pieces may be under way at once, and on a GPU no copy is made between the caller's memory and the
 * memory that the GPU reads and writes. Positions and counts are of values; bytes are little-endian, four per value of
 * f32 and two of bf16.
 */
export interface PieceTransfer<T extends Tensor = Tensor> {
  /**
   * Runs `use` on the values at, at + 1, …, once all commands before are done. The bytes are valid until it resolves.
   * As bf16 the tensor is left with what was read: its values there are rounded, too.
   */
  read(
    t: T,
    at: number,
    count: number,
    format: PieceFormat,
    use: (bytes: Uint8Array) => Promise<void>,
  ): Promise<void>;
  /** Replaces the values at, at + 1, … by what `fill` writes into the bytes, or adds it to them (value + written). */
  write(
    t: T,
    at: number,
    count: number,
    format: PieceFormat,
    how: "replace" | "add",
    fill: (bytes: Uint8Array) => Promise<void>,
  ): Promise<void>;
  /** Gives back what was held for further pieces. */
  release(): void;
}

/** @returns bytes of so many values */
export function pieceBytes(count: number, format: PieceFormat): number {
  return count * (format === "f32" ? 4 : 2);
}

/** @throws Error when the piece does not lie in an f32 tensor of `length` values */
export function checkPiece(t: Tensor, length: number, at: number, count: number): void {
  if (t.dtype !== "f32" || at < 0 || count < 1 || at + count > length)
    throw new Error(`piece of ${count} values at ${at} of ${t.dtype}[${t.shape.join(",")}]`);
}
