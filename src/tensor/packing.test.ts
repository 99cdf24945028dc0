import { expect, test } from "vitest";
import { makePacks, passTokens, type Sequence } from "./packing.ts";

const sequence = (prompt: number[], response: number[]): Sequence => ({
  promptIds: prompt,
  responseIds: response,
});

test("sequences lie one after the other without their last token", () => {
  const packs = makePacks([sequence([1, 2], [3, 4]), sequence([5], []), sequence([6], [7])], 4);
  expect(packs.length).toBe(1);
  const [pack] = packs;
  expect([...pack!.ids]).toEqual([1, 2, 3, 6]);
  expect([...pack!.positions]).toEqual([0, 1, 2, 0]);
  expect([...pack!.start]).toEqual([0, 0, 0, 3]);
  expect([...pack!.end]).toEqual([1, 2, 3, 4]);
  expect(pack!.prefixStart).toBeNull();
  expect([...pack!.queryEnd]).toEqual([3, 3, 3, 4]);
  expect([...pack!.rows]).toEqual([1, 2, 3]);
  expect([...pack!.targets]).toEqual([3, 4, 7]);
  expect(pack!.segments).toEqual([
    { index: 0, row: 0, count: 2 },
    { index: 2, row: 2, count: 1 },
  ]);
  expect(pack!.tokens).toBe(6);
});

test("a pack holds at most the given tokens; a longer sequence is a pack of its own", () => {
  const sequences = [3, 3, 9, 2, 2].map((length) => sequence(Array(length).fill(1), [2]));
  const packs = makePacks(sequences, 6);
  expect(packs.map(({ segments }) => segments.map(({ index }) => index))).toEqual([[0, 1], [2], [3, 4]]);
  expect(makePacks([sequence([1], [])], 6)).toEqual([]);
});

const alike = [
  sequence([9], [9, 9]),
  sequence([1, 2, 3, 4], [5, 6]),
  sequence([1, 2, 3, 7], [8]),
  sequence([1, 2, 3, 4], [5, 6]),
];

test.each([
  [16_384, 4096, 16_384],
  [16_384, 512, 16_384],
  [16_384, 256, 32_768],
  [16_384, 64, 65_536],
  [4096, 64, 4096],
  [1024, 64, 1024],
])(
  "a device of %i tokens takes passes of a model of hidden size %i in %i",
  (packTokens, hiddenSize, expected) => {
    expect(passTokens({ packTokens }, { hiddenSize })).toBe(expected);
  },
);

test("branches follow their trunk, and the last prompt token is each one's own", () => {
  const [pack, ...more] = makePacks(alike, 20, { keep: false, shortest: 2 });
  expect(more).toEqual([]);
  const { ids, positions, start, end, prefixStart, prefixEnd, queryEnd, rows, targets, segments } = pack!;
  expect(segments.map(({ index }) => index)).toEqual([0, 1, 2, 3]);
  expect([...ids]).toEqual([9, 9, 1, 2, 3, 4, 5, 7, 4, 5]);
  expect([...positions]).toEqual([0, 1, 0, 1, 2, 3, 4, 3, 3, 4]);
  expect([...start]).toEqual([0, 0, 2, 2, 2, 2, 2, 7, 8, 8]);
  expect([...end]).toEqual([1, 2, 3, 4, 5, 6, 7, 8, 9, 10]);
  expect([...prefixStart!]).toEqual([0, 0, 2, 2, 2, 2, 2, 2, 2, 2]);
  expect([...prefixEnd!]).toEqual([0, 0, 2, 2, 2, 2, 2, 5, 5, 5]);
  expect([...queryEnd]).toEqual([2, 2, 10, 10, 10, 7, 7, 8, 10, 10]);
  expect([...rows]).toEqual([0, 1, 5, 6, 7, 8, 9]);
  expect([...targets]).toEqual([9, 9, 5, 6, 8, 5, 6]);
  expect(pack!.tokens).toBe(20);
});

test("the branch that shares most comes first", () => {
  const sequences = [
    [1, 2, 3, 9],
    [1, 2, 3, 4, 5, 6],
    [1, 2, 3, 4, 5, 7],
    [1, 2, 3, 8],
  ].map((ids) => sequence(ids, [0]));
  const [pack] = makePacks(sequences, 20, { keep: false, shortest: 2 });
  expect(pack!.segments.map(({ index }) => index)).toEqual([1, 2, 0, 3]);
  expect([...pack!.prefixEnd!.slice(6)]).toEqual([5, 3, 3]);
  expect([...pack!.queryEnd]).toEqual([9, 9, 9, 7, 7, 6, 7, 8, 9]);
});

const long = Array.from({ length: 10 }, (_, i) => i);
const many = [11, 12, 13, 14, 15].map((id) => sequence([...long, id, id], [1]));

test("a group beyond one pack: its prefix is kept for scoring, and computed in each pack for training", () => {
  const kept = makePacks(many, 16, { keep: true, shortest: 4 });
  expect(kept.map(({ ids }) => ids.length)).toEqual([16, 4]);
  expect(kept[0]!.keep).toEqual({ row: 0, prefix: kept[1]!.from });
  expect([...kept[1]!.from!.ids]).toEqual(long);
  expect(kept[1]!.cached).toBe(10);
  expect([...kept[1]!.start]).toEqual([10, 10, 12, 12]);
  expect([...kept[1]!.end]).toEqual([11, 12, 13, 14]);
  expect([...kept[1]!.prefixStart!]).toEqual([0, 0, 0, 0]);
  expect([...kept[1]!.prefixEnd!]).toEqual([10, 10, 10, 10]);
  const apart = makePacks(many, 16, { keep: false, shortest: 4 });
  expect(apart.map(({ ids }) => ids.length)).toEqual([16, 14]);
  expect(apart.every(({ from, keep, cached }) => from === null && keep === null && cached === 0)).toBe(true);
});

test("a stored prefix is taken where it saves more than the sequences share by themselves", () => {
  const stored = { prefixes: [{ ids: Uint32Array.of(...long.slice(0, 6)), points: [6] }], wanted: true };
  const [one] = makePacks(many.slice(0, 1), 100, { keep: true, shortest: 4, stored });
  expect(one!.from).toBe(stored.prefixes[0]);
  expect(one!.ids.length).toBe(6);
  const [all] = makePacks(many, 100, { keep: true, shortest: 4, stored });
  expect(all!.from).toBeNull();
  expect(all!.ids.length).toBe(12 + 4 * 2);
  expect([...all!.keep!.prefix.ids]).toEqual(long);
});

test("with a recurrent state a stored prefix is taken up at its points alone", () => {
  const prefix = { ids: Uint32Array.of(...long), points: [4, 7, 10] };
  const sequences = [sequence([...long.slice(0, 9), 20, 20], [1]), sequence([...long, 20], [1])];
  const sharing = { keep: true, shortest: 4, stored: { prefixes: [prefix], wanted: false } };
  const shared = (recurrent: boolean) =>
    makePacks(sequences, 100, { ...sharing, recurrent }).map(({ spans }) => spans);
  expect(shared(true)).toEqual([
    [
      { first: 0, end: 1, shared: 10, trunk: "stored" },
      { first: 1, end: 5, shared: 7, trunk: "stored" },
    ],
  ]);
  expect(shared(false)[0]!.map((span) => span.shared)).toEqual([10, 9]);
  // Where none of them is long enough, the sequences share what they can by themselves.
  const early = {
    ...sharing,
    recurrent: true,
    stored: { prefixes: [{ ...prefix, points: [2] }], wanted: false },
  };
  expect(makePacks(sequences, 100, early)[0]!.spans.map(({ trunk }) => trunk)).toEqual([null, 0]);
});

test("a prefix that is kept has the points at which those left over leave it", () => {
  const sequences = [12, 10, 8, 8].map((length, i) =>
    sequence([...long, 10, 11].slice(0, length).concat([20 + i, 20, 20]), [1]),
  );
  const packs = makePacks(sequences, 20, { keep: true, shortest: 4, recurrent: true });
  expect(packs[0]!.keep!.prefix.points).toEqual([8]);
  expect(packs[0]!.spans.map(({ shared }) => shared)).toEqual([0, 10]);
  expect(packs[1]!.spans.map(({ shared }) => shared)).toEqual([8, 8]);
});
