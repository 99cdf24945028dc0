import { expect, it } from "vitest";
import fc from "../../test/support/property.ts";
import { findByte, viewOf } from "./find-byte.ts";

it("finds what indexOf finds, in any bytes, at any alignment, for any value", () => {
  // Few distinct values and their neighbours, so that carries between the bytes of a word occur.
  const value = fc.constantFrom(0, 1, 0x0a, 0x0b, 0x21, 0x22, 0x23, 0x7f, 0x80, 0x81, 0xa2, 0xfe, 0xff);
  const cases = fc.tuple(fc.array(value, { maxLength: 60 }), value, fc.nat(12), fc.nat(5));
  fc.assert(
    fc.property(cases, ([values, byte, from, shift]) => {
      const bytes = Uint8Array.from([...new Array<number>(shift).fill(byte), ...values]).subarray(shift);
      expect(findByte(viewOf(bytes), bytes.length, byte, from)).toBe(bytes.indexOf(byte, from));
    }),
    { numRuns: 5_000 },
  );
});
