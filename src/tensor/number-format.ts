/** Conversions between f32 and the formats that weights are stored in. All bytes are little-endian. */

export type FloatFormat = "F32" | "F16" | "BF16";

export const FORMAT_BYTES: Readonly<Record<FloatFormat, number>> = { F32: 4, F16: 2, BF16: 2 };

const word = new Uint32Array(1);
const float = new Float32Array(word.buffer);

/** The bits of an f16 as a number. Exact. */
export function f16ToNumber(bits: number): number {
  const sign = bits & 0x8000 ? -1 : 1;
  const exponent = (bits >> 10) & 0x1f;
  const fraction = bits & 0x3ff;
  if (exponent === 0) return sign * fraction * 2 ** -24;
  if (exponent === 31) return fraction === 0 ? sign * Infinity : NaN;
  return sign * (1 + fraction / 1024) * 2 ** (exponent - 15);
}

/** The nearest f16 (ties to even) of an f32, as bits; beyond 65,504 it is an infinity. */
export function f16FromNumber(value: number): number {
  float[0] = value;
  const bits = word[0]!;
  const sign = (bits >>> 16) & 0x8000;
  const magnitude = bits & 0x7fffffff;
  if (magnitude > 0x7f800000) return sign | 0x7e00;
  if (magnitude >= 0x477ff000) return sign | 0x7c00;
  // Subnormal: the unit is 2^-24, and the addition of 0.5 makes f32 arithmetic itself round to that unit.
  if (magnitude < 0x38800000) {
    word[0] = magnitude;
    float[0] = float[0]! + 0.5;
    return sign | (word[0]! - 0x3f000000);
  }
  const odd = (magnitude >>> 13) & 1;
  return sign | ((magnitude - 0x38000000 + 0xfff + odd) >>> 13);
}

/** The nearest bf16 (ties to even) of an f32, as bits. */
export function bf16FromNumber(value: number): number {
  float[0] = value;
  const bits = word[0]!;
  if ((bits & 0x7fffffff) > 0x7f800000) return (bits >>> 16) | 0x40;
  return ((bits + 0x7fff + ((bits >>> 16) & 1)) >>> 16) & 0xffff;
}

let f16OfBf16: Uint16Array | undefined;

/** The nearest f16 of each bf16, both as bits: what is too large becomes an infinity. From a table, many times faster. */
export function f16FromBf16(halves: Uint16Array): Uint16Array {
  f16OfBf16 ??= Uint16Array.from({ length: 2 ** 16 }, (_, bits) => {
    word[0] = bits << 16;
    return f16FromNumber(float[0]!);
  });
  const table = f16OfBf16;
  const converted = new Uint16Array(halves.length);
  for (let i = 0; i < halves.length; i++) converted[i] = table[halves[i]!]!;
  return converted;
}

/** The same bytes at an address that typed arrays of any width accept. */
function aligned(bytes: Uint8Array, width: number): Uint8Array {
  return bytes.byteOffset % width === 0 ? bytes : bytes.slice();
}

/** Widens stored numbers to f32 and puts them into `out` from `at` on. Exact for all three formats. */
export function decodeFloats(format: FloatFormat, stored: Uint8Array, out: Float32Array, at = 0): void {
  const width = FORMAT_BYTES[format];
  const bytes = aligned(stored, width);
  const count = bytes.byteLength / width;
  if (format === "F32") {
    out.set(new Float32Array(bytes.buffer, bytes.byteOffset, count), at);
    return;
  }
  const halves = new Uint16Array(bytes.buffer, bytes.byteOffset, count);
  if (format === "BF16") {
    const words = new Uint32Array(out.buffer, out.byteOffset, out.length);
    for (let i = 0; i < count; i++) words[at + i] = halves[i]! << 16;
    return;
  }
  for (let i = 0; i < count; i++) out[at + i] = f16ToNumber(halves[i]!);
}

/** f32 values as bytes of a format, rounded to nearest, ties to even. */
export function encodeFloats(format: FloatFormat, values: Float32Array): Uint8Array {
  if (format === "F32") return new Uint8Array(values.buffer, values.byteOffset, values.byteLength).slice();
  const halves = new Uint16Array(values.length);
  const convert = format === "BF16" ? bf16FromNumber : f16FromNumber;
  for (let i = 0; i < values.length; i++) halves[i] = convert(values[i]!);
  return new Uint8Array(halves.buffer);
}
