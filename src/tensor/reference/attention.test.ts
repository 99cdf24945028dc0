import { expect, test } from "vitest";
import { expectGradient } from "../../../test/finite-difference.ts";
import { randomValues } from "../../../test/random.ts";
import { type PackedRanges, packRanges, randomPack, rangeTensors } from "../../../test/support/packs.ts";
import { createReferenceBackend } from "./index.ts";

/** The equations, one query and one head at a time. */
function plainAttention(
  q: Float32Array,
  k: Float32Array,
  v: Float32Array,
  { start, end, prefixStart, prefixEnd }: PackedRanges,
  heads: number,
  groups: number,
  size: number,
): { o: number[]; lse: number[] } {
  const o: number[] = [];
  const lse: number[] = [];
  for (let t = 0; t < start.length; t++)
    for (let h = 0; h < heads; h++) {
      const g = Math.floor(h / (heads / groups));
      const scores: number[] = [];
      const seen: number[] = [];
      for (let j = prefixStart[t]!; j < prefixEnd[t]!; j++) seen.push(j);
      for (let j = start[t]!; j < end[t]!; j++) seen.push(j);
      for (const j of seen) {
        let s = 0;
        for (let i = 0; i < size; i++) s += q[(t * heads + h) * size + i]! * k[(j * groups + g) * size + i]!;
        scores.push(s / Math.sqrt(size));
      }
      const total = scores.reduce((sum, s) => sum + Math.exp(s), 0);
      lse.push(Math.log(total));
      for (let i = 0; i < size; i++)
        o.push(
          scores.reduce(
            (sum, s, j) => sum + (Math.exp(s) / total) * v[(seen[j]! * groups + g) * size + i]!,
            0,
          ),
        );
    }
  return { o, lse };
}

test.each([
  { parts: [{ prefix: 5, continuations: [] }] },
  { parts: [3, 1, 4].map((prefix) => ({ prefix, continuations: [] })) },
  { parts: [70, 75].map((prefix) => ({ prefix, continuations: [] })) },
  { parts: [{ prefix: 4, continuations: [1, 3, 2] }] },
  { parts: randomPack(90, 1) },
  { parts: randomPack(150, 2) },
])("packed causal attention over $parts", async ({ parts }) => {
  const backend = createReferenceBackend();
  const [heads, groups, size] = [4, 2, 6];
  const ranges = packRanges(parts);
  const tokens = ranges.start.length;
  const q = randomValues(tokens * heads * size, 1, 2);
  const k = randomValues(tokens * groups * size, 2, 2);
  const v = randomValues(tokens * groups * size, 3);
  const { o, lse } = backend.attention(
    backend.fromArray(q, [tokens, heads, size]),
    backend.fromArray(k, [tokens, groups, size]),
    backend.fromArray(v, [tokens, groups, size]),
    rangeTensors(backend, ranges).keys,
  );
  const expected = plainAttention(q, k, v, ranges, heads, groups, size);
  const [actualO, actualLse] = [await backend.read(o), await backend.read(lse)];
  for (let i = 0; i < expected.o.length; i++)
    expect(Math.abs(actualO[i]! - expected.o[i]!)).toBeLessThan(2e-6);
  for (let i = 0; i < expected.lse.length; i++)
    expect(Math.abs(actualLse[i]! - expected.lse[i]!)).toBeLessThan(2e-6);
});

test("one query against cached keys, and scores that would overflow exp", async () => {
  const backend = createReferenceBackend();
  const q = backend.fromArray(Float32Array.of(1000, 0), [1, 1, 2]);
  const k = backend.fromArray(Float32Array.of(1, 0, -1, 0, 9, 9), [3, 1, 2]);
  const v = backend.fromArray(Float32Array.of(1, 2, 3, 4, 5, 6), [3, 1, 2]);
  const range = {
    start: backend.fromArray(Uint32Array.of(0), [1]),
    end: backend.fromArray(Uint32Array.of(2), [1]),
  };
  const { o, lse } = backend.attention(q, k, v, range);
  expect([...(await backend.read(o))]).toEqual([1, 2]);
  expect((await backend.read(lse))[0]).toBeCloseTo(1000 / Math.SQRT2, 3);
  const empty = { start: range.start, end: range.start };
  expect(() => backend.attention(q, k, v, empty)).toThrow("keys 0 … 0 of 3");
  const [one, two] = [range.end, backend.fromArray(Uint32Array.of(3), [1])];
  const twice = { start: one, end: two, prefixStart: range.start, prefixEnd: two };
  expect(() => backend.attention(q, k, v, twice)).toThrow("query 0 has prefix keys 0 … 3 and keys 2 … 3");
  expect(() => backend.attention(q, k, v, { ...range, prefixStart: range.start })).toThrow(
    "ranges of keys u32 [Tq]",
  );
});

test.each([
  { parts: [{ prefix: 6, continuations: [] }] },
  { parts: [2, 1, 4].map((prefix) => ({ prefix, continuations: [] })) },
  {
    parts: [
      { prefix: 3, continuations: [1, 2] },
      { prefix: 1, continuations: [2] },
    ],
  },
])("gradients of q, k and v over $parts", async ({ parts }) => {
  const backend = createReferenceBackend();
  const [heads, groups, size] = [4, 2, 3];
  const ranges = packRanges(parts);
  const tokens = ranges.start.length;
  const q = backend.fromArray(randomValues(tokens * heads * size, 1), [tokens, heads, size]);
  const k = backend.fromArray(randomValues(tokens * groups * size, 2), [tokens, groups, size]);
  const v = backend.fromArray(randomValues(tokens * groups * size, 3), [tokens, groups, size]);
  const slope = randomValues(tokens * heads * size, 4);
  const { keys, queryEnd } = rangeTensors(backend, ranges);
  const { o, lse } = backend.attention(q, k, v, keys);
  const dout = backend.fromArray(slope, q.shape);
  const { dq, dk, dv } = backend.attentionBackward(dout, q, k, v, o, lse, keys, queryEnd);
  const forward = () => backend.attention(q, k, v, keys).o;
  await expectGradient(backend, q, forward, slope, dq);
  await expectGradient(backend, k, forward, slope, dk);
  await expectGradient(backend, v, forward, slope, dv);
});
