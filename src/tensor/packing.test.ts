import { expect, test } from "vitest";
import { makePacks } from "./packing.ts";

const sequence = (prompt: number[], response: number[]) => ({ promptIds: prompt, responseIds: response });

test("sequences lie one after the other without their last token", () => {
  const packs = makePacks([sequence([1, 2], [3, 4]), sequence([5], []), sequence([6], [7])], 4);
  expect(packs.length).toBe(1);
  const [pack] = packs;
  expect([...pack!.ids]).toEqual([1, 2, 3, 6]);
  expect([...pack!.positions]).toEqual([0, 1, 2, 0]);
  expect([...pack!.start]).toEqual([0, 0, 0, 3]);
  expect([...pack!.end]).toEqual([1, 2, 3, 4]);
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
