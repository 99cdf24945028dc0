import { afterAll, beforeAll, expect, test } from "vitest";
import { randomValues } from "../../../test/random.ts";
import { expectSameResults } from "../../../test/support/same-results.ts";
import { openGpu } from "../../../test/webgpu.ts";
import type { Backend } from "../backend.ts";
import { createReferenceBackend } from "../reference/index.ts";
import type { Tensor } from "../tensor.ts";
import { createWebGpuBackend, type WebGpuBackend } from "./index.ts";

let backend: WebGpuBackend;
/** The same with the delta rule by chunks, which a software adapter does not take by itself. */
let chunked: WebGpuBackend;
beforeAll(async () => {
  backend = await createWebGpuBackend(await openGpu());
  chunked = await createWebGpuBackend(await openGpu(), { deltaForm: "chunks" });
});
afterAll(() => {
  backend.dispose();
  chunked.dispose();
});

function pack(lengths: readonly number[]) {
  const offsets = [0];
  const start: number[] = [];
  const end: number[] = [];
  for (const length of lengths) {
    const first = offsets.at(-1)!;
    for (let i = 0; i < length; i++) {
      start.push(first);
      end.push(first + length);
    }
    offsets.push(first + length);
  }
  return { n: start.length, offsets, start, end };
}

test.each([
  [9, [4, 8, 12]],
  [5, [3, 4]],
  [70, [1]],
] as const)("columns of %i rows, %j wide", async (rows, widths) => {
  const width = widths.reduce((sum, size) => sum + size, 0);
  await expectSameResults(backend, (b) => {
    const parts = b.splitColumns(b.fromArray(randomValues(rows * width, 1), [rows, width]), widths);
    const named = Object.fromEntries(parts.map((part, i) => [`part ${i}`, part]));
    return { ...named, joined: b.joinColumns([...parts].reverse()) };
  });
});

test.each([
  { lengths: [5], channels: 8, kernel: 4 },
  { lengths: [3, 1, 40], channels: 161, kernel: 4 },
  { lengths: [2, 9], channels: 6, kernel: 2 },
])("causal convolution and its gradients, %j", async ({ lengths, channels, kernel }) => {
  const { n, start, end } = pack(lengths);
  await expectSameResults(backend, (b) => {
    const x = b.fromArray(randomValues(n * channels, 1, 2), [n, channels]);
    const w = b.fromArray(randomValues(channels * kernel, 2), [channels, 1, kernel]);
    const dw = b.fromArray(randomValues(channels * kernel, 3), [channels, 1, kernel]);
    const dy = b.fromArray(randomValues(n * channels, 4), [n, channels]);
    const starts = b.fromArray(Uint32Array.from(start), [n]);
    const ends = b.fromArray(Uint32Array.from(end), [n]);
    const y = b.causalConv(x, w, starts);
    return { y, dx: b.causalConvBackward(dw, dy, x, w, starts, ends), dw };
  });
});

test.each([
  [1, 4],
  [75, 16],
])("gates of %i tokens and %i heads, and their gradients", async (tokens, heads) => {
  await expectSameResults(backend, (b) => {
    const a = b.fromArray(randomValues(tokens * heads, 1, 12), [tokens, heads]);
    const beta = b.fromArray(randomValues(tokens * heads, 2, 5), [tokens, heads]);
    const aLog = b.fromArray(randomValues(heads, 3, 2), [heads]);
    const bias = b.fromArray(randomValues(heads, 4), [heads]);
    const [daLog, dbias] = [b.fromArray(randomValues(heads, 5), [heads]), b.zeros([heads])];
    const dgates = b.fromArray(randomValues(tokens * heads * 2, 6), [tokens, heads, 2]);
    const d = b.deltaGatesBackward(daLog, dbias, dgates, a, beta, aLog, bias);
    return { gates: b.deltaGates(a, beta, aLog, bias), ...d, daLog, dbias };
  });
});

const RULES = [
  { lengths: [1], keyHeads: 1, valueHeads: 1, dk: 4, dv: 4, keep: 0.5 },
  { lengths: [37, 1, 12], keyHeads: 2, valueHeads: 4, dk: 16, dv: 24, keep: 0.05 },
  { lengths: [150], keyHeads: 2, valueHeads: 2, dk: 8, dv: 20, keep: 0.01 },
  { lengths: [9, 6], keyHeads: 1, valueHeads: 2, dk: 128, dv: 128, keep: 0.2 },
  // Past the rows at which the backward pass stores a state.
  { lengths: [70, 131, 64, 300], keyHeads: 1, valueHeads: 2, dk: 8, dv: 12, keep: 0.01 },
  // Heads that forget almost all at once.
  { lengths: [40], keyHeads: 1, valueHeads: 3, dk: 12, dv: 8, keep: 8 },
];

const BY_CHUNKS = [
  // Chunks that are full, that hold one row, and ones whose last tile is ragged; sequences without a row between.
  { lengths: [64, 65, 0, 3, 129, 62], keyHeads: 2, valueHeads: 2, dk: 16, dv: 16, keep: 0.1 },
  // More columns than a workgroup takes at a time, and fewer.
  { lengths: [100], keyHeads: 1, valueHeads: 1, dk: 256, dv: 36, keep: 0.05 },
  // Almost all is forgotten at once.
  { lengths: [1, 70], keyHeads: 1, valueHeads: 1, dk: 256, dv: 36, keep: 8 },
];

// Unrolled kernels of large heads take a software adapter long to compile.
test.each([
  ...RULES.map((rule) => ({ form: "tokens" as const, ...rule })),
  ...[...RULES.filter(({ lengths }) => lengths.length > 1), ...BY_CHUNKS].map((rule) => ({
    form: "chunks" as const,
    ...rule,
  })),
])("gated delta rule and its gradients, %j", async (rule) => {
  const { form, lengths, keyHeads, valueHeads, dk, dv, keep } = rule;
  const { n, offsets } = pack(lengths);
  await expectSameResults(form === "chunks" ? chunked : backend, (b) => {
    const q = b.fromArray(randomValues(n * keyHeads * dk, 1), [n, keyHeads, dk]);
    // Of a length near 1, as after the unit norm.
    const k = b.fromArray(randomValues(n * keyHeads * dk, 2, Math.sqrt(3 / dk)), [n, keyHeads, dk]);
    const v = b.fromArray(randomValues(n * valueHeads * dv, 3), [n, valueHeads, dv]);
    const values = randomValues(n * valueHeads * 2, 4).map((value, i) =>
      i % 2 === 0 ? -keep * Math.abs(value) : 0.5 + 0.45 * value,
    );
    const gates = b.fromArray(values, [n, valueHeads, 2]);
    const sequences = b.fromArray(Uint32Array.from(offsets), [offsets.length]);
    const dout = b.fromArray(randomValues(n * valueHeads * dv, 5), v.shape);
    const { o, errors } = b.deltaRule(q, k, v, gates, sequences);
    const d = b.deltaRuleBackward(dout, q, k, v, gates, sequences, o, errors);
    const shape = [lengths.length, valueHeads, dk, dv];
    const state = b.fromArray(
      randomValues(
        shape.reduce((x, y) => x * y, 1),
        6,
      ),
      shape,
    );
    const carried = b.deltaRule(q, k, v, gates, sequences, state);
    return { o, errors, ...d, carried: carried.o, state };
  });
});

test("head sizes that are not multiples of 4, and sequences that end elsewhere, are refused", () => {
  backend.scope(() => {
    const [q, v, gates] = [backend.zeros([2, 1, 6]), backend.zeros([2, 1, 8]), backend.zeros([2, 1, 2])];
    const sequences = backend.fromArray(Uint32Array.of(0, 2), [2]);
    expect(() => backend.deltaRule(q, q, v, gates, sequences)).toThrow("head size 6 is not a multiple of 4");
    const short = backend.fromArray(Uint32Array.of(0, 1), [2]);
    expect(() => backend.deltaRule(v, v, v, gates, short)).toThrow("the sequences end at 1 of 2 rows");
  });
});

test("states on the way are those that the rule ends with on the same rows", async () => {
  const [keyHeads, valueHeads, dk, dv] = [2, 4, 12, 20];
  const { n, offsets } = pack([150, 30, 70]);
  const spans = [
    [0, 1],
    [0, 64],
    [0, 64],
    [0, 149],
    [180, 180],
    [180, 250],
  ] as const;
  const inputs = <T extends Tensor>(b: Backend<T>) => {
    const values = randomValues(n * valueHeads * 2, 4);
    const gates = values.map((value, i) => (i % 2 === 0 ? -0.05 * Math.abs(value) : 0.5 + 0.4 * value));
    return {
      q: b.fromArray(randomValues(n * keyHeads * dk, 1), [n, keyHeads, dk]),
      k: b.fromArray(randomValues(n * keyHeads * dk, 2, 0.5), [n, keyHeads, dk]),
      v: b.fromArray(randomValues(n * valueHeads * dv, 3), [n, valueHeads, dv]),
      gates: b.fromArray(gates, [n, valueHeads, 2]),
      sequences: b.fromArray(Uint32Array.from(offsets), [4]),
    };
  };
  await expectSameResults(backend, (b) => {
    const { q, k, v, gates, sequences } = inputs(b);
    const { errors } = b.deltaRule(q, k, v, gates, sequences);
    const list = b.fromArray(Uint32Array.from(spans.flat()), [spans.length, 2]);
    return { states: b.deltaStates(k, gates, errors, list) };
  });
  const reference = createReferenceBackend();
  const { q, k, v, gates, sequences } = inputs(reference);
  const state = reference.zeros([3, valueHeads, dk, dv]);
  const { errors } = reference.deltaRule(q, k, v, gates, sequences, state);
  const ends = reference.fromArray(Uint32Array.of(0, 150, 150, 180, 180, 250), [3, 2]);
  const states = await reference.read(reference.deltaStates(k, gates, errors, ends));
  const expected = await reference.read(state);
  for (const [i, value] of expected.entries()) expect(Math.abs(states[i]! - value)).toBeLessThan(1e-5);
});
