/** Seeded damage to the files of a model: besides faults, what somebody who means harm would write there. */
import { below, damageBytes, damagedJson, damageFile, pick, type Uniform } from "./mutate.ts";

/** Values that ask for much. */
const GREEDY: readonly unknown[] = [
  1e9,
  2 ** 31,
  2 ** 53 - 1,
  1e300,
  "(a+)+$",
  "(?:a|a)*b",
  "\\s*\\s*\\s*x",
  "(?=.*.*.*x)",
  "[\\s\\S]*?a",
  "a".repeat(100_000),
  Array<number>(100_000).fill(0),
  { type: "Replace", pattern: { String: "a" }, content: "aaaaaaaaaaaaaaaa" },
  { type: "Replace", pattern: { Regex: "" }, content: "aaaaaaaaaaaaaaaa" },
  { type: "Split", pattern: { Regex: "(a+)+$" }, behavior: "Isolated" },
  { type: "Sequence", normalizers: Array(20).fill({ type: "NFKD" }) },
  { type: "Prepend", prepend: "a".repeat(10_000) },
  { type: "FixedLength", length: 0 },
  { type: "TemplateProcessing", single: Array(10_000).fill({ Sequence: { id: "A", type_id: 0 } }) },
];

/** Parts of templates that take long, grow or nest. */
const JINJA = [
  "{% for i in range(1000000000) %}",
  "{% for i in range(9999) %}{% for j in range(9999) %}",
  "{% for m in messages %}",
  "{% endfor %}",
  "{% endif %}",
  "{% set x = messages[0].content %}",
  "{% set x = x ~ x ~ x ~ x %}",
  "{% set ns = namespace(x='aaaaaaaaaaaaaaaa') %}",
  "{% set ns.x = ns.x + ns.x %}",
  "{% set ns.x = [ns.x, ns.x] %}",
  "{% macro f(n) %}{{ f(n + 1) }}{% endmacro %}{{ f(0) }}",
  "{{ x.replace('a', 'bbbbbbbbbbbbbbbb') }}",
  "{{ x | replace('', x) }}",
  "{{ messages | tojson(indent=100000000) }}",
  "{{ ns.x | tojson | upper | indent(64) }}",
  "{{ x.split('a') | join(', ') }}",
  "{{ 9 ** 9 ** 9 }}",
  `{{ ${"(".repeat(3000)} }}`,
  `{{ ${"not ".repeat(3000)}x }}`,
  `{{ ${"[".repeat(500)}1${"]".repeat(500)} | string }}`,
];

function damageText(text: string, parts: readonly string[], uniform: Uniform): string {
  let result = text;
  for (let times = 1 + below(uniform, 5); times > 0; times--) {
    const at = below(uniform, result.length + 1);
    const cut = uniform() < 0.3 ? below(uniform, 200) : 0;
    result =
      result.slice(0, at) + pick(uniform, parts).repeat(1 + below(uniform, 3)) + result.slice(at + cut);
  }
  return result;
}

/** A JSON text with a greedy value in the place of one of its values, at any depth. */
function greedyJson(value: unknown, uniform: Uniform): unknown {
  if (typeof value !== "object" || value === null || uniform() < 0.2) return pick(uniform, GREEDY);
  const copy = structuredClone(value) as Record<string, unknown>;
  const keys = Object.keys(copy);
  if (keys.length === 0) return pick(uniform, GREEDY);
  const key = pick(uniform, keys);
  copy[key] = greedyJson(copy[key], uniform);
  return copy;
}

/** The header of a safetensors file with some damage, its length as it now is. */
function damageHeader(bytes: Uint8Array, uniform: Uniform): Uint8Array {
  const length = Number(new DataView(bytes.buffer, bytes.byteOffset, 8).getBigUint64(0, true));
  const header: unknown = JSON.parse(new TextDecoder().decode(bytes.subarray(8, 8 + length)));
  const text = uniform() < 0.5 ? damagedJson(header, uniform) : JSON.stringify(greedyJson(header, uniform));
  const json = new TextEncoder().encode(text);
  const result = new Uint8Array(8 + json.length + bytes.length - 8 - length);
  new DataView(result.buffer).setBigUint64(
    0,
    BigInt(uniform() < 0.1 ? below(uniform, 2 ** 40) : json.length),
    true,
  );
  result.set(json, 8);
  result.set(bytes.subarray(8 + length), 8 + json.length);
  return result;
}

/** A number of a zip's directory or of an entry's header: sizes, offsets, counts, methods. */
function damageArchive(bytes: Uint8Array, uniform: Uniform): Uint8Array {
  const result = bytes.slice();
  const view = new DataView(result.buffer);
  const signs: number[] = [];
  for (let at = 0; at + 46 < result.length; at++) if (view.getUint16(at, true) === 0x4b50) signs.push(at);
  for (let times = 1 + below(uniform, 4); times > 0; times--) {
    const at = pick(uniform, signs) + 4 + below(uniform, 38);
    view.setUint32(at, pick(uniform, [0, 1, 65_535, 3.5e9, 2 ** 32 - 1, below(uniform, 2 ** 32)]), true);
  }
  return result;
}

/** A file of a model with some damage, of the kind that its name says it can take. */
export function damageModelFile(path: string, bytes: Uint8Array, uniform: Uniform): Uint8Array {
  if (uniform() < 0.2) return damageBytes(bytes, uniform);
  const text = () => new TextDecoder().decode(bytes);
  const encoded = (changed: string) => new TextEncoder().encode(changed);
  if (path.endsWith(".jinja")) return encoded(damageText(text(), JINJA, uniform));
  if (path.endsWith(".safetensors")) return damageHeader(bytes, uniform);
  if (path.endsWith(".zip")) return damageArchive(bytes, uniform);
  if (path.endsWith(".json") && uniform() < 0.5)
    return encoded(JSON.stringify(greedyJson(JSON.parse(text()), uniform)));
  return damageFile(path, bytes, uniform);
}
