import { describe, expect, test } from "vitest";
import { randomValues } from "../../test/random.ts";
import { relativeError } from "../../test/support/relative-error.ts";
import { encodeFloats } from "./number-format.ts";
import { packRows, packValues, unpackRows, WEIGHT_FORMATS, weightWords, wordOfRow } from "./weight-format.ts";

const where = { file: "model.safetensors", key: "w" };

/** Bound on ‖stored − given‖ / ‖given‖ of evenly spread values. */
const bounds = { f32: 0, f16: 3e-4, bf16: 2.3e-3, int8: 4.5e-3, int4: 6.5e-2 } as const;

describe.each(WEIGHT_FORMATS)("%s", (format) => {
  test.each([
    [3, 5],
    [4, 20],
    [5, 33],
    [6, 64],
    [2, 200],
    [3, 384],
  ])("[%i, %i]: rows come back, within the format's error", (rows, width) => {
    const values = randomValues(rows * width, 1);
    const words = packValues(format, width, values.slice());
    expect(words.length).toBe(weightWords(format, [rows, width]));
    const all = unpackRows(format, width, words, 0, rows);
    expect(relativeError(all, values)).toBeLessThanOrEqual(bounds[format]);
    expect(unpackRows(format, width, words, 1, 2)).toEqual(all.slice(width, 2 * width));
  });

  test("pieces of rows make the same words as the whole", () => {
    const values = randomValues(6 * 70, 2);
    const whole = packValues(format, 70, values.slice());
    const parts = new Uint32Array(whole.length);
    for (const [from, to] of [
      [0, 2],
      [2, 6],
    ] as const)
      parts.set(packValues(format, 70, values.slice(from * 70, to * 70)), wordOfRow(format, 70, from));
    expect(parts).toEqual(whole);
  });
});

test("16-bit files keep their bits in the same format", () => {
  for (const [format, stored] of [
    ["f16", "F16"],
    ["bf16", "BF16"],
  ] as const) {
    const bytes = encodeFloats(stored, randomValues(15, 3));
    const words = packRows(format, 5, stored, bytes, 0, where);
    expect(new Uint8Array(words.buffer).slice(0, 30)).toEqual(bytes);
  }
});

test("int8 is symmetric and exact at both ends of its group; int4 spans a group from end to end", () => {
  const values = Float32Array.from({ length: 16 }, (_, i) => i - 8);
  const int8 = unpackRows("int8", 16, packValues("int8", 16, values.slice()), 0, 1);
  expect(int8[0]).toBeCloseTo(-8, 6);
  expect(int8[8]).toBe(0);
  expect(unpackRows("int4", 16, packValues("int4", 16, values.slice()), 0, 1)).toEqual(values);
  const same = new Float32Array(16).fill(0.75);
  expect(unpackRows("int4", 16, packValues("int4", 16, same.slice()), 0, 1)).toEqual(same);
});

test("what is not finite, or too large, is refused by name and place", () => {
  const pack = (value: number, from: "F32" | "F16" | "BF16", format: "f16" | "bf16" | "int8" | "f32") =>
    packRows(format, 2, from, encodeFloats(from, Float32Array.of(1, 2, 3, value)), 10, where);
  for (const from of ["F32", "F16", "BF16"] as const)
    for (const format of ["f32", "f16", "bf16", "int8"] as const) {
      expect(() => pack(Number.NaN, from, format)).toThrow(/w: value 23 is NaN, expected finite weights/);
      expect(() => pack(Number.NEGATIVE_INFINITY, from, format)).toThrow(/value 23 is -Infinity/);
    }
  expect(() => pack(-70_000, "F32", "f16")).toThrow("value 23 is -70000, which f16 cannot hold (±65,504)");
  expect(() => pack(1e6, "BF16", "f16")).toThrow("which f16 cannot hold");
  expect(() => pack(3.4e38, "F32", "bf16")).toThrow("which bf16 cannot hold");
});

test.each([
  ["BF16", "bf16", 0x7f80],
  ["F16", "f16", 0x7c00],
] as const)(
  "a value of %s that is not finite is found in every place, and only there",
  (from, format, exponent) => {
    for (const count of [1, 2, 3, 4, 5, 6, 7, 8, 9, 17, 22]) {
      // The largest finite values, of both signs.
      const halves = Uint16Array.from({ length: count }, (_, i) => (exponent - 1) | (0x8000 * (i % 2)));
      const pack = () => packRows(format, count, from, new Uint8Array(halves.buffer), 0, where);
      expect(new Uint16Array(pack().buffer, 0, count)).toEqual(halves);
      for (let at = 0; at < count; at++)
        for (const special of [exponent, 0x8000 | exponent, exponent | 1]) {
          const kept = halves[at]!;
          halves[at] = special;
          expect(pack).toThrow(`w: value ${at} is `);
          halves[at] = kept;
        }
    }
  },
);
