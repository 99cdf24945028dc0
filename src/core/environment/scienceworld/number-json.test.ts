import { describe, expect, test } from "vitest";
import fc from "../../../../test/support/property.ts";
import { compareCodePoints } from "../canonical-text.ts";
import {
  Double,
  type NumberJson,
  parseNumberJson,
  serializeDouble,
  serializeNumberJson,
} from "./number-json.ts";

/** The same value as `JSON.parse` would give it. */
function forget(value: NumberJson): unknown {
  if (typeof value === "bigint") return Number(value);
  if (value instanceof Double) return value.value;
  if (Array.isArray(value)) return value.map(forget);
  if (value instanceof Map) return Object.fromEntries([...value].map(([key, inner]) => [key, forget(inner)]));
  return value;
}

describe("parsing", () => {
  test("agrees with JSON.parse but for the numbers' spelling", () => {
    fc.assert(
      fc.property(fc.json({ stringUnit: "binary" }), fc.constantFrom(undefined, 1, "\t"), (json, indent) => {
        const text = JSON.stringify(JSON.parse(json), null, indent);
        // -0 as an integer has no sign; JSON.stringify never writes one.
        expect(forget(parseNumberJson(text))).toEqual(JSON.parse(text));
      }),
    );
  });

  test("tells integers of any size from doubles", () => {
    expect(parseNumberJson("[1, 1.0, 1e0, -0, 123456789012345678901234567890]")).toEqual([
      1n,
      new Double(1),
      new Double(1),
      0n,
      123456789012345678901234567890n,
    ]);
  });

  test("the last of equal keys counts, at the first one's place", () => {
    expect([...(parseNumberJson('{"a":1,"b":2,"a":3}') as Map<string, NumberJson>)]).toEqual([
      ["a", 3n],
      ["b", 2n],
    ]);
  });

  test.each([
    "",
    " ",
    "{",
    "[1,]",
    "{,}",
    '{"a" 1}',
    "{a:1}",
    "01",
    "1.",
    ".5",
    "+1",
    "NaN",
    "tru",
    "nul",
    '"a',
    '"\n"',
    '"\\x"',
    '"\\u12"',
    "1 2",
    "[1 2]",
    "'a'",
    "\u00a01",
  ])("refuses %j as JSON.parse does", (text) => {
    expect(() => JSON.parse(text)).toThrow(SyntaxError);
    expect(() => parseNumberJson(text)).toThrow(SyntaxError);
  });
});

describe("serialization", () => {
  test.each([
    [100, "100.0"],
    [0.0001, "0.0001"],
    [0.00001, "1e-05"],
    [1e15, "1000000000000000.0"],
    [1e16, "1e+16"],
    [1.5e300, "1.5e+300"],
    [5e-324, "5e-324"],
    [-0, "-0.0"],
    [0, "0.0"],
    [-273.15, "-273.15"],
    [123456789.125, "123456789.125"],
    [2 ** 53, "9007199254740992.0"],
    [1.7976931348623157e308, "1.7976931348623157e+308"],
    [-0.00012345, "-0.00012345"],
  ])("%d is %s", (value, text) => expect(serializeDouble(value)).toBe(text));

  test("doubles read back as the same double", () => {
    fc.assert(
      fc.property(fc.double({ noNaN: true, noDefaultInfinity: true }), (value) => {
        const text = serializeDouble(value);
        expect(text).toMatch(/^-?\d+\.\d+$|^-?\d(\.\d+)?e[+-]\d{2,}$/);
        expect(Number(text)).toBe(value);
      }),
    );
  });

  test("is plain ASCII with keys in the order of code points", () => {
    // U+FF5E comes before U+1F600, whose first UTF-16 unit is the smaller one.
    const value = parseNumberJson('{"😀":1,"～":"é\\u0007\\u007f/","a":[],"b":{},"":null,"z":[true,false]}');
    expect(serializeNumberJson(value)).toBe(
      '{"": null, "a": [], "b": {}, "z": [true, false], "\\uff5e": "\\u00e9\\u0007\\u007f/", "\\ud83d\\ude00": 1}',
    );
  });

  test("serialized text parses to the same value", () => {
    fc.assert(
      fc.property(fc.json({ stringUnit: "binary" }), (json) => {
        const value = parseNumberJson(json);
        expect(forget(parseNumberJson(serializeNumberJson(value)))).toEqual(forget(value));
      }),
    );
  });

  test("code points are compared as their numbers are", () => {
    const points = (text: string) => Array.from(text, (character) => character.codePointAt(0)!);
    fc.assert(
      fc.property(fc.string({ unit: "binary" }), fc.string({ unit: "binary" }), (a, b) => {
        const [x, y] = [points(a), points(b)];
        const at = x.findIndex((point, index) => point !== y[index]);
        const expected = at === -1 ? x.length - y.length : at >= y.length ? 1 : x[at]! - y[at]!;
        expect(Math.sign(compareCodePoints(a, b))).toBe(Math.sign(expected));
      }),
    );
  });
});
