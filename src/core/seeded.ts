/** Randomness that follows from a text alone, so that a resumed run draws what the first one would have drawn. */
import { sha256 } from "@noble/hashes/sha2.js";
import { bytesToHex, utf8ToBytes } from "@noble/hashes/utils.js";

/** SHA-256 of UTF-8 text as 64 hexadecimal digits. */
export function sha256Hex(text: string): string {
  return sha256OfParts(utf8ToBytes(text));
}

/** SHA-256 of parts one behind the other as 64 hexadecimal digits. */
export function sha256OfParts(...parts: readonly Uint8Array[]): string {
  const hash = sha256.create();
  for (const part of parts) hash.update(part);
  return bytesToHex(hash.digest());
}

/**
 * SHA-256 of bytes as 64 hexadecimal digits, by WebCrypto, which is many times faster, where there is one (not on a page
 * of plain http). The bytes are read before it returns.
 */
export async function sha256Bytes(bytes: Uint8Array): Promise<string> {
  const subtle = globalThis.crypto?.subtle;
  if (subtle === undefined) return sha256OfParts(bytes);
  return bytesToHex(new Uint8Array(await subtle.digest("SHA-256", bytes as Uint8Array<ArrayBuffer>)));
}

/** Digest of several digests in their order, one per line; a single one stays as it is. */
export function digestOfDigests(digests: readonly string[]): string {
  return digests.length === 1 ? digests[0]! : sha256Hex(digests.join("\n"));
}

/** A seed in [0, 2^31) from a text: the first 8 hexadecimal digits of its SHA-256, modulo 2^31. */
export function seedOf(text: string): number {
  return Number.parseInt(sha256Hex(text).slice(0, 8), 16) % 2 ** 31;
}

/** Uniform numbers in [0, 1) with 32 bits each (mulberry32). */
export function uniforms(seed: number): () => number {
  let state = seed >>> 0;
  return () => {
    state = (state + 0x6d2b79f5) >>> 0;
    let t = Math.imul(state ^ (state >>> 15), state | 1);
    t ^= t + Math.imul(t ^ (t >>> 7), t | 61);
    return ((t ^ (t >>> 14)) >>> 0) / 4_294_967_296;
  };
}

/** The numbers 0 … count−1 in an order drawn from the seed (Fisher–Yates). */
export function shuffled(count: number, seed: number): number[] {
  const order = Array.from({ length: count }, (_, i) => i);
  const uniform = uniforms(seed);
  for (let i = count - 1; i > 0; i -= 1) {
    const j = Math.floor(uniform() * (i + 1));
    [order[i], order[j]] = [order[j]!, order[i]!];
  }
  return order;
}
