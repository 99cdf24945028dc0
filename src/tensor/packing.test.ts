import { expect, test } from "vitest";
import { makePacks, type Sequence } from "./packing.ts";

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
  const stored = { prefixes: [{ ids: Uint32Array.of(...long.slice(0, 6)) }], wanted: true };
  const [one] = makePacks(many.slice(0, 1), 100, { keep: true, shortest: 4, stored });
  expect(one!.from).toBe(stored.prefixes[0]);
  expect(one!.ids.length).toBe(6);
  const [all] = makePacks(many, 100, { keep: true, shortest: 4, stored });
  expect(all!.from).toBeNull();
  expect(all!.ids.length).toBe(12 + 4 * 2);
  expect([...all!.keep!.prefix.ids]).toEqual(long);
});
