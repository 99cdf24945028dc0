import { expect, test } from "vitest";
import {
  bf16FromNumber,
  decodeFloats,
  encodeFloats,
  f16FromBf16,
  f16FromNumber,
  f16ToNumber,
} from "./number-format.ts";

test("every f16 and every bf16 survives the way to f32 and back", () => {
  const all = Uint16Array.from({ length: 65_536 }, (_, bits) => bits);
  const bytes = new Uint8Array(all.buffer);
  for (const format of ["F16", "BF16"] as const) {
    const values = new Float32Array(65_536);
    decodeFloats(format, bytes, values);
    const back = new Uint16Array(encodeFloats(format, values).buffer);
    expect(all.filter((bits) => !Number.isNaN(values[bits]) && back[bits] !== bits)).toEqual(
      new Uint16Array(0),
    );
  }
});

test("known f16 values", () => {
  expect([0x3c00, 0xc000, 0x7bff, 0x0001, 0x0400, 0x3555].map(f16ToNumber)).toEqual([
    1,
    -2,
    65_504,
    2 ** -24,
    2 ** -14,
    0.333251953125,
  ]);
  expect(f16ToNumber(0xfc00)).toBe(-Infinity);
  expect(f16ToNumber(0x7e00)).toBeNaN();
  expect(f16FromNumber(NaN) & 0x7fff).toBeGreaterThan(0x7c00);
});

test("rounding to f16 takes the nearer neighbour, and the even one of a tie, also among subnormals", () => {
  for (let bits = 0; bits < 0x7bff; bits += 7) {
    const [low, high] = [f16ToNumber(bits), f16ToNumber(bits + 1)];
    const middle = (low + high) / 2;
    expect(f16FromNumber(middle)).toBe(bits % 2 === 0 ? bits : bits + 1);
    expect(f16FromNumber(low + (high - low) * 0.499)).toBe(bits);
    expect(f16FromNumber(-(low + (high - low) * 0.501))).toBe(0x8000 | (bits + 1));
  }
  expect(f16FromNumber(65_519)).toBe(0x7bff);
  expect(f16FromNumber(65_520)).toBe(0x7c00);
  expect(f16FromNumber(-1e30)).toBe(0xfc00);
  expect(f16FromNumber(1e-30)).toBe(0);
});

test("rounding to bf16 takes the nearer neighbour, and the even one of a tie", () => {
  expect(bf16FromNumber(1)).toBe(0x3f80);
  expect(bf16FromNumber(1 + 2 ** -8)).toBe(0x3f80);
  expect(bf16FromNumber(1 + 3 * 2 ** -8)).toBe(0x3f82);
  expect(bf16FromNumber(1 + 2 ** -8 + 2 ** -20)).toBe(0x3f81);
  expect(bf16FromNumber(-3.4e38)).toBe(0xff80);
  expect(bf16FromNumber(NaN)).toBeGreaterThan(0x7f80);
});

test("bytes at an odd address decode", () => {
  const shifted = new Uint8Array(13);
  shifted.set(encodeFloats("F32", Float32Array.of(1.5, -2, 3e-9)), 1);
  const out = new Float32Array(4);
  decodeFloats("F32", shifted.subarray(1), out, 1);
  expect([...out]).toEqual([0, 1.5, -2, Math.fround(3e-9)]);
});

test("turns every bf16 into the f16 that its value has", () => {
  const all = Uint16Array.from({ length: 2 ** 16 }, (_, bits) => bits);
  const values = new Float32Array(all.length);
  decodeFloats("BF16", new Uint8Array(all.buffer), values);
  expect(f16FromBf16(all)).toEqual(new Uint16Array(encodeFloats("F16", values).buffer));
});
