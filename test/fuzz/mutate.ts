/** Seeded damage to files: to their bytes, and to the values of JSON, JSON Lines and CSV. */
import { gunzipSync, gzipSync } from "node:zlib";

/** Uniform numbers in [0, 1). */
export type Uniform = () => number;

export function below(uniform: Uniform, count: number): number {
  return Math.floor(uniform() * count);
}

export function pick<T>(uniform: Uniform, values: readonly T[]): T {
  return values[below(uniform, values.length)]!;
}

const TOKENS = [
  "\0",
  "\n",
  "\r\n",
  "\ufeff",
  "\u2028",
  "\ud83d\ude00",
  "é",
  '"',
  "\\",
  "\\u0000",
  "\\ud800",
  "{",
  "}",
  "[",
  "]",
  ",",
  ":",
  "null",
  "true",
  "-",
  "1e999",
  "-1e999",
  "9".repeat(400),
  "0x10",
  "NaN",
  "Infinity",
  "/",
  "%",
  "%zz",
  "../",
  "__proto__",
].map((text) => new TextEncoder().encode(text));

/** Text put into JSON as it stands, where a value stood: what no JavaScript value would be written as. */
const RAW = [
  "1e400",
  "-1e400",
  "1e-400",
  "-0",
  "9".repeat(30),
  '"\\ud800"',
  '{"__proto__":{"x":1}}',
  '{"a":1,"a":2}',
  "[".repeat(300) + "]".repeat(300),
  "[".repeat(20000) + "]".repeat(20000),
  '{"a":'.repeat(8000) + "1" + "}".repeat(8000),
];

const VALUES: unknown[] = [
  null,
  true,
  false,
  0,
  -1,
  0.5,
  1,
  2 ** 31,
  2 ** 53,
  1e308,
  -1e308,
  "",
  " ",
  "x",
  "0",
  "-1",
  "true",
  "\ud800",
  "\0",
  "a\u2028b",
  "__proto__",
  "9".repeat(50),
  "é".repeat(2000),
  [],
  {},
  [null],
  [[]],
  [{}],
  { key: null },
  { length: 5 },
  "[",
  "{}",
  "http://x/",
  "fixed_",
  "Action:",
  "<action>",
  "<action></action>",
];

function concat(parts: readonly Uint8Array[]): Uint8Array {
  return new Uint8Array(Buffer.concat(parts));
}

/** Bytes with one to four faults: flips, insertions, deletions, repetitions, cuts, and marks that formats care about. */
export function damageBytes(bytes: Uint8Array, uniform: Uniform): Uint8Array {
  let result: Uint8Array = bytes.slice();
  for (let times = 1 + below(uniform, 4); times > 0; times--) {
    const at = below(uniform, result.length + 1);
    const length = Math.min(result.length - at, 1 + below(uniform, uniform() < 0.8 ? 16 : 4096));
    switch (below(uniform, 8)) {
      case 0:
        if (at < result.length) result[at]! ^= 1 << below(uniform, 8);
        break;
      case 1:
        if (at < result.length) result[at] = below(uniform, 256);
        break;
      case 2:
        result = concat([result.subarray(0, at), result.subarray(at + length)]);
        break;
      case 3:
        result = concat([result.subarray(0, at + length), result.subarray(at)]);
        break;
      case 4:
        result = result.slice(0, at);
        break;
      case 5: {
        const noise = Uint8Array.from({ length }, () => below(uniform, 256));
        result = concat([result.subarray(0, at), noise, result.subarray(at)]);
        break;
      }
      default:
        result = concat([result.subarray(0, at), pick(uniform, TOKENS), result.subarray(at)]);
    }
  }
  return result;
}

interface Place {
  parent: Record<string, unknown> | unknown[];
  key: string | number;
}

/** A place in the value, drawn by walking down from the root, so that shallow and deep places both come. */
function drawPlace(root: unknown, uniform: Uniform): Place | undefined {
  let place: Place | undefined;
  let value = root;
  while (typeof value === "object" && value !== null) {
    const keys = Array.isArray(value) ? [...value.keys()] : Object.keys(value);
    if (keys.length === 0 || (place !== undefined && uniform() < 0.15)) break;
    place = { parent: value as Place["parent"], key: pick<string | number>(uniform, keys) };
    value = (value as Record<string | number, unknown>)[place.key];
  }
  return place;
}

const MARK = "@@raw@@";

function damageOnce(root: unknown, uniform: Uniform): unknown {
  const place = drawPlace(root, uniform);
  if (place === undefined) return pick(uniform, VALUES);
  const { parent, key } = place;
  const object = parent as Record<string | number, unknown>;
  const value = object[key];
  switch (below(uniform, 11)) {
    case 0:
    case 1:
      if (Array.isArray(parent)) parent.splice(Number(key), 1);
      else delete object[key];
      break;
    case 2:
    case 3:
      object[key] = pick(uniform, VALUES);
      break;
    case 4:
      object[key] = `${MARK}${below(uniform, RAW.length)}${MARK}`;
      break;
    case 5:
      object[key] = uniform() < 0.5 ? [value] : { [String(key)]: value };
      break;
    case 6:
      object[key] =
        typeof value === "number"
          ? String(value)
          : typeof value === "string"
            ? Number(value) || 7
            : String(value);
      break;
    case 7:
      if (Array.isArray(parent)) parent.splice(Number(key), 0, structuredClone(value));
      else object[pick(uniform, ["x", "", "__proto__", "constructor", "length", "é", `${key}2`])] = value;
      break;
    case 8: {
      const other = drawPlace(root, uniform)!;
      const into = other.parent as Record<string | number, unknown>;
      into[other.key] = structuredClone(value);
      break;
    }
    case 9:
      if (typeof value === "string") {
        const at = below(uniform, value.length + 1);
        const token = new TextDecoder().decode(pick(uniform, TOKENS));
        object[key] = uniform() < 0.5 ? value.slice(0, at) : value.slice(0, at) + token + value.slice(at);
      } else if (typeof value === "number") object[key] = value + pick(uniform, [1, -1, 0.5, 1e15]);
      else if (typeof value === "boolean") object[key] = !value;
      break;
    default:
      if (Array.isArray(value)) value.reverse();
      else object[key] = typeof value === "string" ? value + value : [value, value];
  }
  return root;
}

/** A JSON value with one to three faults, as text. */
export function damagedJson(value: unknown, uniform: Uniform): string {
  let root = structuredClone(value);
  for (let times = 1 + below(uniform, 3); times > 0; times--) root = damageOnce(root, uniform);
  let text: string;
  try {
    text = JSON.stringify(root) ?? "null";
  } catch {
    // A value put inside itself: the damage is left out.
    text = JSON.stringify(value);
  }
  return text.replace(/"@@raw@@(\d+)@@raw@@"/g, (_, n: string) => RAW[Number(n)]!);
}

function damageLines(text: string, uniform: Uniform): string {
  const lines = text.split("\n");
  if (lines.at(-1) === "") lines.pop();
  const n = below(uniform, lines.length);
  switch (below(uniform, 9)) {
    case 0:
      lines.splice(n, 1);
      break;
    case 1:
      lines.splice(n, 0, lines[n]!);
      break;
    case 2:
      lines.splice(n, 0, pick(uniform, ["", " ", "null", "[]", "{}", "{", "\r", "\ufeff{}"]));
      break;
    case 3: {
      const m = below(uniform, lines.length);
      [lines[n], lines[m]] = [lines[m]!, lines[n]!];
      break;
    }
    default:
      lines[n] = damagedJson(JSON.parse(lines[n]!), uniform);
  }
  return lines.join(uniform() < 0.05 ? "\r\n" : "\n") + (uniform() < 0.9 ? "\n" : "");
}

function damageCsv(text: string, uniform: Uniform): string {
  const lines = text.split("\n");
  const n = below(uniform, lines.length);
  const cells = lines[n]!.split(",");
  const c = below(uniform, cells.length);
  if (uniform() < 0.3) cells.splice(c, uniform() < 0.5 ? 1 : 0, "x");
  else
    cells[c] = pick(uniform, [
      "",
      "true",
      "1",
      "-1",
      "1e999",
      '"',
      '"{}"',
      '"[1"',
      "null",
      "x\0y",
      '"{""__proto__"":1}"',
    ]);
  lines[n] = cells.join(",");
  return lines.join("\n");
}

const parsed = new WeakMap<Uint8Array, unknown>();

/** The JSON document of a seed file, parsed once. */
function document(bytes: Uint8Array, text: string): unknown {
  if (!parsed.has(bytes)) parsed.set(bytes, JSON.parse(text));
  return parsed.get(bytes);
}

const plainBytes = new WeakMap<Uint8Array, Uint8Array>();

/** A file with some damage, of the kind that its name says it can take: half of the time inside its values. */
export function damageFile(path: string, bytes: Uint8Array, uniform: Uniform): Uint8Array {
  const zipped = path.endsWith(".gz");
  if (uniform() < (zipped ? 0.1 : 0.3)) return damageBytes(bytes, uniform);
  let plain = bytes;
  if (zipped) {
    plain = plainBytes.get(bytes) ?? new Uint8Array(gunzipSync(bytes));
    plainBytes.set(bytes, plain);
  }
  const name = path.replace(/\.gz$/, "");
  let result: Uint8Array;
  const text = () => new TextDecoder().decode(plain);
  if (name.endsWith(".jsonl")) result = new TextEncoder().encode(damageLines(text(), uniform));
  else if (name.endsWith(".json")) {
    result = new TextEncoder().encode(damagedJson(document(plain, text()), uniform));
  } else if (name.endsWith(".csv")) result = new TextEncoder().encode(damageCsv(text(), uniform));
  else result = damageBytes(plain, uniform);
  return zipped ? new Uint8Array(gzipSync(result, { level: 1 })) : result;
}
