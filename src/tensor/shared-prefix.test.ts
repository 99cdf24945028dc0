import { expect, test } from "vitest";
import fc from "../../test/support/property.ts";
import { commonLength, type Group, groupByPrefix, type Tokens } from "./shared-prefix.ts";

const tokens = (...ids: number[]): Tokens => ({ ids: Uint32Array.from(ids), mostShared: ids.length - 1 });

function deal(sequences: readonly Tokens[], shortest: number): Group[] {
  return groupByPrefix(
    sequences,
    sequences.map((_, i) => i),
    shortest,
  );
}

test("a context that grows is one trunk with branches at several depths", () => {
  const sequences = [tokens(1, 2, 9), tokens(1, 2, 3, 4, 9), tokens(1, 2, 3, 4, 5, 6, 9), tokens(7, 7)];
  expect(deal(sequences, 2)).toEqual([
    {
      trunk: 2,
      branches: [
        { index: 1, shared: 4 },
        { index: 0, shared: 2 },
      ],
    },
    { trunk: 3, branches: [] },
  ]);
});

test("a short beginning that all share does not part those that share more", () => {
  const system = [5, 5];
  const one = [...system, 1, 1, 1, 1];
  const two = [...system, 2, 2, 2, 2];
  const sequences = [tokens(...one, 8), tokens(...two, 8), tokens(...one, 9), tokens(...two, 9)];
  expect(deal(sequences, 2)).toEqual([
    { trunk: 0, branches: [{ index: 2, shared: 6 }] },
    { trunk: 1, branches: [{ index: 3, shared: 6 }] },
  ]);
});

test("prompts that are wholly shared keep their last token", () => {
  const ids = Uint32Array.of(1, 2, 3, 4, 5);
  const sequences = [
    { ids, mostShared: 2 },
    { ids, mostShared: 2 },
    { ids, mostShared: 1 },
  ];
  expect(deal(sequences, 2)).toEqual([
    { trunk: 0, branches: [{ index: 1, shared: 2 }] },
    { trunk: 2, branches: [] },
  ]);
});

const sets = fc.array(
  fc
    .array(fc.integer({ min: 1, max: 2 }), { minLength: 1, maxLength: 7 })
    .map((ids) => ({ ids: Uint32Array.from(ids), mostShared: ids.length })),
  { maxLength: 6 },
);

test("every sequence is dealt once, and what is shared is equal", () => {
  fc.assert(
    fc.property(sets, fc.integer({ min: 1, max: 4 }), (sequences, shortest) => {
      const groups = deal(sequences, shortest);
      const dealt = groups.flatMap(({ trunk, branches }) => [trunk, ...branches.map(({ index }) => index)]);
      expect(dealt.sort((a, b) => a - b)).toEqual(sequences.map((_, i) => i));
      for (const { trunk, branches } of groups) {
        let before = Infinity;
        for (const { index, shared } of branches) {
          expect(shared).toBeGreaterThanOrEqual(shortest);
          expect(shared).toBeLessThanOrEqual(before);
          before = shared;
          expect(commonLength(sequences[trunk]!.ids, sequences[index]!.ids)).toBeGreaterThanOrEqual(shared);
        }
      }
    }),
  );
});

/** The most tokens that any choice of trunks saves, by trying all of them. */
function mostSaved(sequences: readonly Tokens[], shortest: number): number {
  let best = 0;
  const count = sequences.length;
  for (let trunks = 0; trunks < 2 ** count; trunks++) {
    let saved = 0;
    for (let i = 0; i < count; i++) {
      if (trunks & (1 << i)) continue;
      let own = 0;
      for (let t = 0; t < count; t++)
        if (trunks & (1 << t)) {
          const shared = commonLength(sequences[i]!.ids, sequences[t]!.ids);
          if (shared >= shortest) own = Math.max(own, shared);
        }
      saved += own;
    }
    best = Math.max(best, saved);
  }
  return best;
}

test("no other choice of trunks saves more", () => {
  fc.assert(
    fc.property(sets, fc.integer({ min: 1, max: 3 }), (sequences, shortest) => {
      const saved = deal(sequences, shortest)
        .flatMap(({ branches }) => branches)
        .reduce((sum, { shared }) => sum + shared, 0);
      expect(saved).toBe(mostSaved(sequences, shortest));
    }),
    { numRuns: 300 },
  );
});
