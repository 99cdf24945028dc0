import { InputError } from "../core/errors.ts";
import { decodeFloats, type FloatFormat, f16FromBf16, f16FromNumber, f16ToNumber } from "./number-format.ts";
import { elements } from "./shapes.ts";
import type { FrozenFormat, WeightFormat } from "./tensor.ts";

/**
 * How weights that are not trained are stored, the same on every device: in words of 32 bits, little end first, so that
 * a kernel needs no optional feature to read them.
 *
 * - `f16`, `bf16`: the values one after the other, two per word.
 * - `int8`, `int4`: the last dimension in groups, and of each group a block of words: one word of scale, then the values.
 *   A row is whole blocks; what a last, shorter group leaves free is 0.
 *   int8: w = scale · q, q from −127 to 127, the scale in f32.
 *   int4: w = offset + scale · q, q from 0 to 15; scale in the word's upper half, offset in the lower, both bf16. They
 *   are rounded before the values are, so that the rounding of the two costs no accuracy of the values between.
 *
 * The group of int8 is 128, of int4 64, or less where the width does not fill it (see `groupSize`). Measured on the
 * matrices of trained models, root mean square error over root mean square of the weights: docs/models.md.
 */
const LARGEST_GROUP = { int8: 128, int4: 64 } as const;

/** The largest f32 that an f16 holds after rounding. */
export const LARGEST_F16 = 65_519;
/** The largest f32 that a bf16 holds after rounding. */
export const LARGEST_BF16 = (2 - 2 ** -8 - 2 ** -23) * 2 ** 127;

export const WEIGHT_FORMATS = [
  "f32",
  "f16",
  "bf16",
  "int8",
  "int4",
] as const satisfies readonly WeightFormat[];

/** Whether a tensor is of a format that only frozen models keep their weights in. */
export function isFrozen(dtype: string): dtype is FrozenFormat {
  return dtype === "f16" || dtype === "bf16" || dtype === "int8" || dtype === "int4";
}

/** Values that share a scale. */
export function groupSize(format: "int8" | "int4", width: number): number {
  const largest = LARGEST_GROUP[format];
  for (let size = largest; size > 16; size /= 2) if (width % size === 0) return size;
  return width > 16 ? 32 : 16;
}

/** Words of a tensor of that format and shape. */
export function weightWords(format: WeightFormat | "u32", shape: readonly number[]): number {
  const count = elements(shape);
  if (format === "f32" || format === "u32") return count;
  if (format === "f16" || format === "bf16") return Math.ceil(count / 2);
  const width = shape.at(-1)!;
  return (count / width) * blockWords(format, width).row;
}

/** Of int8 and int4: values per group, words per block and words per row of `width` values. Of other formats 0. */
export function blockWords(
  format: WeightFormat | "u32",
  width: number,
): { group: number; block: number; row: number } {
  if (format !== "int8" && format !== "int4") return { group: 0, block: 0, row: 0 };
  const group = groupSize(format, width);
  const block = 1 + group / (format === "int8" ? 4 : 8);
  return { group, block, row: block * Math.ceil(width / group) };
}

/** Where row `row` begins, in words: whole for every even row. */
export function wordOfRow(format: WeightFormat, width: number, row: number): number {
  if (format === "f32") return row * width;
  if (format === "f16" || format === "bf16") return (row * width) / 2;
  return row * blockWords(format, width).row;
}

/**
 * Whole rows of a weight from the format of a file to `format`. `firstRow` is for messages and must be even where the
 * width is odd.
 *
 * @throws InputError for a NaN, an infinity, or a value that an f16 cannot hold
 */
export function packRows(
  format: WeightFormat,
  width: number,
  from: FloatFormat,
  bytes: Uint8Array,
  firstRow: number,
  where: { file: string; key: string },
): Uint32Array {
  const refuse = (index: number, value: number, why: string): never => {
    throw new InputError(`value ${firstRow * width + index} is ${value}, ${why}`, where);
  };
  const refuseLarge = (index: number, value: number): never =>
    refuse(index, value, "which f16 cannot hold (±65,504); choose bf16, int8 or f32");
  const halves = from === "F32" ? null : halvesOf(bytes);
  if (halves !== null) {
    const valueAt = (index: number): number => {
      const value = new Float32Array(1);
      decodeFloats(from, new Uint8Array(halves.slice(index, index + 1).buffer), value);
      return value[0]!;
    };
    const bad = firstSpecial(halves, from === "F16" ? 0x7c00 : 0x7f80);
    if (bad >= 0) refuse(bad, valueAt(bad), "expected finite weights");
    if ((from === "BF16" && format === "bf16") || (from === "F16" && format === "f16"))
      return wordsOf(halves);
    if (from === "BF16" && format === "f16") {
      const converted = f16FromBf16(halves);
      const large = firstSpecial(converted, 0x7c00);
      if (large >= 0) refuseLarge(large, valueAt(large));
      return wordsOf(converted);
    }
  }
  const values = new Float32Array(bytes.byteLength / (from === "F32" ? 4 : 2));
  decodeFloats(from, bytes, values);
  if (halves === null)
    for (let i = 0; i < values.length; i++)
      if (!Number.isFinite(values[i]!)) refuse(i, values[i]!, "expected finite weights");
  if (format === "f16")
    for (let i = 0; i < values.length; i++)
      if (Math.abs(values[i]!) > LARGEST_F16) refuseLarge(i, values[i]!);
  if (format === "bf16")
    for (let i = 0; i < values.length; i++)
      if (Math.abs(values[i]!) > LARGEST_BF16) refuse(i, values[i]!, "which bf16 cannot hold (±3.39e38)");
  return packValues(format, width, values);
}

/** Finite f32 values in whole rows to the words of a format; a value too large for f16 becomes an infinity. */
export function packValues(format: WeightFormat, width: number, values: Float32Array): Uint32Array {
  if (format === "f32") return new Uint32Array(values.buffer, values.byteOffset, values.length);
  if (format === "bf16") return packBf16(values);
  if (format === "f16") {
    const halves = new Uint16Array(Math.ceil(values.length / 2) * 2);
    for (let i = 0; i < values.length; i++) halves[i] = f16FromNumber(values[i]!);
    return new Uint32Array(halves.buffer);
  }
  const { group, block, row } = blockWords(format, width);
  const rows = values.length / width;
  const words = new Uint32Array(rows * row);
  for (let r = 0; r < rows; r++) {
    let to = r * row;
    for (let begin = 0; begin < width; begin += group, to += block) {
      const from = r * width + begin;
      const end = Math.min(from + group, (r + 1) * width);
      if (format === "int8") packInt8(values, from, end, words, to);
      else packInt4(values, from, end, words, to);
    }
  }
  return words;
}

/** The f32 values of rows `from` … `to` − 1. */
export function unpackRows(
  format: WeightFormat,
  width: number,
  words: Uint32Array,
  from: number,
  to: number,
): Float32Array {
  const out = new Float32Array((to - from) * width);
  if (format === "f32") {
    out.set(new Float32Array(words.buffer, words.byteOffset + from * width * 4, out.length));
  } else if (format === "f16" || format === "bf16") {
    const halves = new Uint16Array(words.buffer, words.byteOffset + from * width * 2, out.length);
    if (format === "f16") for (let i = 0; i < out.length; i++) out[i] = f16ToNumber(halves[i]!);
    else {
      const bits = new Uint32Array(out.buffer);
      for (let i = 0; i < out.length; i++) bits[i] = halves[i]! << 16;
    }
  } else {
    const { group, block, row } = blockWords(format, width);
    const [scale, offset, head] = [new Float32Array(1), new Float32Array(1), new Uint32Array(2)];
    const heads = new Float32Array(head.buffer);
    for (let r = from; r < to; r++)
      for (let column = 0; column < width; column++) {
        const begin = r * row + Math.floor(column / group) * block;
        const within = column % group;
        const first = words[begin]!;
        let q: number;
        if (format === "int8") {
          head[0] = first;
          [scale[0], offset[0]] = [heads[0]!, 0];
          q = (words[begin + 1 + (within >> 2)]! << (24 - 8 * (within & 3))) >> 24;
        } else {
          [head[0], head[1]] = [first & 0xffff0000, first << 16];
          [scale[0], offset[0]] = [heads[0]!, heads[1]!];
          q = (words[begin + 1 + (within >> 3)]! >>> (4 * (within & 7))) & 15;
        }
        out[(r - from) * width + column] = offset[0]! + scale[0]! * q;
      }
  }
  return out;
}

function packBf16(values: Float32Array): Uint32Array {
  const bits = new Uint32Array(values.buffer, values.byteOffset, values.length);
  const words = new Uint32Array(Math.ceil(values.length / 2));
  for (let i = 0; i < bits.length; i++) {
    // To the nearest, ties to even; the values are finite.
    const half = ((bits[i]! + 0x7fff + ((bits[i]! >>> 16) & 1)) >>> 16) & 0xffff;
    words[i >> 1] = words[i >> 1]! | (half << (16 * (i & 1)));
  }
  return words;
}

const one = new Float32Array(1);
const oneBits = new Uint32Array(one.buffer);

function packInt8(values: Float32Array, from: number, end: number, words: Uint32Array, to: number): void {
  let most = 0;
  for (let i = from; i < end; i++) most = Math.max(most, Math.abs(values[i]!));
  one[0] = most / 127;
  words[to] = oneBits[0]!;
  const inverse = inverseOf(one[0]!);
  for (let i = from; i < end; i++) {
    const q = Math.max(-127, Math.min(127, wholeOf(values[i]! * inverse)));
    const at = i - from;
    const word = to + 1 + (at >> 2);
    words[word] = words[word]! | ((q & 0xff) << (8 * (at & 3)));
  }
}

function packInt4(values: Float32Array, from: number, end: number, words: Uint32Array, to: number): void {
  let low = values[from]!;
  let high = low;
  for (let i = from + 1; i < end; i++) {
    const value = values[i]!;
    if (value < low) low = value;
    if (value > high) high = value;
  }
  const offset = bf16Bits(low);
  const base = bf16Number(offset);
  const scale = bf16Bits(Math.fround(high - base) / 15);
  words[to] = ((scale << 16) | offset) >>> 0;
  const inverse = inverseOf(bf16Number(scale));
  for (let i = from; i < end; i++) {
    const q = Math.max(0, Math.min(15, wholeOf(Math.fround(values[i]! - base) * inverse)));
    const at = i - from;
    const word = to + 1 + (at >> 3);
    words[word] = words[word]! | (q << (4 * (at & 7)));
  }
}

/**
 * 1 / x of an f32 x > 0, else 0, accurate to about 14 bits, which puts a value among 255 steps within 0.01 of its place.
 * Any device can compute it with integers, to the same bits; WGSL leaves the last bits of a division open.
 */
function inverseOf(x: number): number {
  if (!(x > 0)) return 0;
  one[0] = x;
  const exponent = oneBits[0]! >>> 23;
  if (exponent === 0) return 1 / x;
  const digits = ((oneBits[0]! & 0x7fffff) | 0x800000) >>> 8;
  return Math.floor(2 ** 31 / digits) * 2 ** (111 - exponent);
}

/** The nearest whole number of a value as f32, ties to even. */
function wholeOf(value: number): number {
  const turn = 1.5 * 2 ** 52;
  return Math.fround(value) + turn - turn;
}

function bf16Bits(value: number): number {
  one[0] = value;
  return ((oneBits[0]! + 0x7fff + ((oneBits[0]! >>> 16) & 1)) >>> 16) & 0xffff;
}

function bf16Number(bits: number): number {
  oneBits[0] = bits << 16;
  return one[0]!;
}

function halvesOf(bytes: Uint8Array): Uint16Array {
  const aligned = bytes.byteOffset % 2 === 0 ? bytes : bytes.slice();
  return new Uint16Array(aligned.buffer, aligned.byteOffset, aligned.byteLength / 2);
}

/** Index of the first NaN or infinity (all bits of `exponent` set) among 16-bit floats, or −1. */
function firstSpecial(halves: Uint16Array, exponent: number): number {
  const words = new Uint32Array(
    halves.buffer,
    halves.byteOffset,
    halves.byteOffset % 4 === 0 ? halves.length >> 1 : 0,
  );
  if (words.length > 0 && !anySpecial(words, exponent)) {
    const rest = 2 * words.length;
    return rest < halves.length && (halves[rest]! & exponent) === exponent ? rest : -1;
  }
  return halves.findIndex((half) => (half & exponent) === exponent);
}

/**
 * Whether there is one, two values at a time: adding the exponent's last bit carries into the sign where all are set. Four
 * words per round, written out, with one branch for all of them: a function for each would take longer.
 */
function anySpecial(words: Uint32Array, exponent: number): boolean {
  const all = exponent | (exponent << 16);
  const last = all & -all & 0xffff;
  const lasts = last | (last << 16);
  const rest = words.length % 4;
  for (let i = 0; i < words.length - rest; i += 4) {
    const carried =
      ((words[i]! & all) + lasts) |
      ((words[i + 1]! & all) + lasts) |
      ((words[i + 2]! & all) + lasts) |
      ((words[i + 3]! & all) + lasts);
    if ((carried & 0x80008000) !== 0) return true;
  }
  return words.subarray(words.length - rest).some((word) => (((word & all) + lasts) & 0x80008000) !== 0);
}

function wordsOf(halves: Uint16Array): Uint32Array {
  if (halves.length % 2 === 0 && halves.byteOffset % 4 === 0)
    return new Uint32Array(halves.buffer, halves.byteOffset, halves.length / 2);
  const padded = new Uint16Array(Math.ceil(halves.length / 2) * 2);
  padded.set(halves);
  return new Uint32Array(padded.buffer);
}
