/**
 * JSON that keeps how each number was written: `1` and `1.0` are different values for the locator, and integers may
 * exceed what a double holds. `JSON.parse` forgets both. And the one serialization that state keys are hashed over.
 */

import { asciiString, compareCodePoints } from "../canonical-text.ts";

/** A number that was written with a point or an exponent. */
export class Double {
  constructor(readonly value: number) {}
}

/** Integers are bigint, doubles are `Double`, objects are maps in document order (the last of equal keys counts). */
export type NumberJson = null | boolean | string | bigint | Double | NumberJson[] | NumberJsonObject;
export type NumberJsonObject = Map<string, NumberJson>;

/** Deepest nesting that is read; the trees of the simulator have about twenty levels. */
const MAX_DEPTH = 1000;

const NUMBER = /-?(?:0|[1-9]\d*)(\.\d+)?([eE][+-]?\d+)?/y;
const BLANK = /[ \t\n\r]*/y;
/** Up to the next quote, backslash or control character. */
// biome-ignore lint/suspicious/noControlCharactersInRegex: JSON forbids them inside strings
const PLAIN = /[^"\\\u0000-\u001f]*/y;

/** Parses strict JSON. Throws `SyntaxError` with the character offset. */
export function parseNumberJson(text: string): NumberJson {
  let at = 0;

  const fail = (what: string): never => {
    throw new SyntaxError(
      at >= text.length
        ? `${what}, but the text ends`
        : `${what} at character ${at}, found ${JSON.stringify(text[at])}`,
    );
  };
  const skip = () => {
    BLANK.lastIndex = at;
    BLANK.test(text);
    at = BLANK.lastIndex;
  };
  const literal = <T>(word: string, value: T): T => {
    if (!text.startsWith(word, at)) fail("expected a value");
    at += word.length;
    return value;
  };
  const number = (): NumberJson => {
    NUMBER.lastIndex = at;
    const match = NUMBER.exec(text);
    if (match === null) return fail("expected a value");
    at = NUMBER.lastIndex;
    if (match[1] === undefined && match[2] === undefined) return BigInt(match[0]);
    return new Double(Number(match[0]));
  };
  const string = (): string => {
    const start = at;
    at++;
    for (;;) {
      PLAIN.lastIndex = at;
      PLAIN.test(text);
      at = PLAIN.lastIndex;
      if (text[at] === '"') {
        at++;
        break;
      }
      if (text[at] !== "\\") return fail("expected the end of a string");
      at += 2;
    }
    // Escapes are JSON's own business; a bad one makes this throw.
    return JSON.parse(text.slice(start, at)) as string;
  };
  const value = (depth: number): NumberJson => {
    if (depth > MAX_DEPTH) fail(`expected at most ${MAX_DEPTH} levels`);
    skip();
    switch (text[at]) {
      case "{": {
        const object: NumberJsonObject = new Map();
        at++;
        skip();
        if (text[at] === "}") {
          at++;
          return object;
        }
        for (;;) {
          skip();
          if (text[at] !== '"') fail("expected a key");
          const key = string();
          skip();
          if (text[at] !== ":") fail("expected a colon");
          at++;
          object.set(key, value(depth + 1));
          skip();
          if (text[at] === "}") break;
          if (text[at] !== ",") fail("expected a comma or }");
          at++;
        }
        at++;
        return object;
      }
      case "[": {
        const list: NumberJson[] = [];
        at++;
        skip();
        if (text[at] === "]") {
          at++;
          return list;
        }
        for (;;) {
          list.push(value(depth + 1));
          skip();
          if (text[at] === "]") break;
          if (text[at] !== ",") fail("expected a comma or ]");
          at++;
        }
        at++;
        return list;
      }
      case '"':
        return string();
      case "t":
        return literal("true", true);
      case "f":
        return literal("false", false);
      case "n":
        return literal("null", null);
      default:
        return number();
    }
  };

  const result = value(0);
  skip();
  if (at < text.length) fail("expected the end");
  return result;
}

/** Shortest digits that read back as the same double; plain notation for decimal exponents -4 … 15. */
export function serializeDouble(value: number): string {
  if (!Number.isFinite(value)) throw new RangeError("a number is beyond the range of a double");
  if (value === 0) return Object.is(value, -0) ? "-0.0" : "0.0";
  const sign = value < 0 ? "-" : "";
  const [mantissa = "", power = ""] = Math.abs(value).toExponential().split("e");
  const digits = mantissa.replace(".", "");
  const exponent = Number(power);
  if (exponent < -4 || exponent >= 16) {
    const fraction = digits.length > 1 ? `.${digits.slice(1)}` : "";
    const size = String(Math.abs(exponent)).padStart(2, "0");
    return `${sign}${digits[0]}${fraction}e${exponent < 0 ? "-" : "+"}${size}`;
  }
  if (exponent < 0) return `${sign}0.${"0".repeat(-exponent - 1)}${digits}`;
  const whole = digits.slice(0, exponent + 1).padEnd(exponent + 1, "0");
  return `${sign}${whole}.${digits.slice(exponent + 1) || "0"}`;
}

/** One line of pure ASCII: `, ` and `: ` between, keys by code point, other characters as `\uXXXX`. */
export function serializeNumberJson(value: NumberJson): string {
  if (value === null) return "null";
  switch (typeof value) {
    case "boolean":
    case "bigint":
      return String(value);
    case "string":
      return asciiString(value);
    default:
  }
  if (value instanceof Double) return serializeDouble(value.value);
  if (Array.isArray(value)) return `[${value.map(serializeNumberJson).join(", ")}]`;
  return `{${[...value.entries()]
    .sort(([a], [b]) => compareCodePoints(a, b))
    .map(([key, inner]) => `${asciiString(key)}: ${serializeNumberJson(inner)}`)
    .join(", ")}}`;
}
