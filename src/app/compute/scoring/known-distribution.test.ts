import { expect, it } from "vitest";
import { distributionOf as of } from "../../../../test/support/distributions.ts";
import { heldObjects } from "../../../../test/support/garbage.ts";
import { scoredSide, tokenScores } from "../../../../test/support/token-scores.ts";
import { tokenKey } from "../side.ts";
import { getUi, setUi } from "../store.ts";
import { furtherLogprobs, unknownListed, usedRows, wantedOf } from "./known-distribution.ts";

const one = of([1, 2, 3, 4]);
const other = of([2, 9, 3, 4]);

it("finds what another side lists and this one does not know, place by place", () => {
  expect(unknownListed(one, [one, other])).toEqual([{ position: 0, id: 9 }]);
  expect(unknownListed(other, [one, other])).toEqual([{ position: 0, id: 1 }]);
  expect(unknownListed(one, [one])).toEqual([]);
  const told = { ...one, further: new Map([[tokenKey(0, 9), -3]]) };
  expect(unknownListed(told, [one, other])).toEqual([]);
});

it("asks for them with the hidden row of their place", async () => {
  const asked: [number[], number[]][] = [];
  const further = await furtherLogprobs(
    one,
    [
      { position: 1, id: 7 },
      { position: 1, id: 8 },
    ],
    Float32Array.of(10, 11, 20, 21),
    async (rows, ids) => {
      asked.push([[...rows], ids]);
      return Float32Array.from(ids, (id) => -id);
    },
  );
  expect(asked).toEqual([
    [
      [20, 21, 20, 21],
      [7, 8],
    ],
  ]);
  expect([...further]).toEqual([
    [tokenKey(1, 7), -7],
    [tokenKey(1, 8), -8],
  ]);
});

it("asks an export for whole distributions of short responses only, and our own engine for hidden states always", () => {
  expect(wantedOf({ architecture: "qwen3", vocabulary: 151_936 }, 500).hidden).toBe(true);
  expect(wantedOf({ vocabulary: 151_936 }, 500).hidden).toBe(false);
  expect(wantedOf({ vocabulary: 151_936 }, 100).hidden).toBe(true);
  expect(wantedOf({ vocabulary: 0 }, 65)).toEqual({ topK: 64, entropy: true, hidden: false });
});

it("copies as many wide rows at once as fit", async () => {
  const width = 2 ** 21;
  const calls: number[] = [];
  const missing = [5, 6, 7].map((id) => ({ position: 0, id }));
  await furtherLogprobs(one, missing, new Float32Array(one.entropy.length * width), async (rows, ids) => {
    calls.push(ids.length);
    return new Float32Array(rows.length / width);
  });
  expect(calls).toEqual([2, 1]);
});

it("lets rows go with the last scores that have them, shown or set aside", async () => {
  const scored = () => {
    const rows = usedRows({ hidden: new Float32Array(2) });
    setUi({
      scores: { a: tokenScores(scoredSide("vanilla", [-1, -1], { distribution: { ...one, rows } })) },
    });
    return new WeakRef(rows);
  };
  const rows = scored();
  let aside: unknown = getUi().scores;
  setUi({ scores: {} });
  expect(await heldObjects([rows])).toBe(1);
  expect(aside).toHaveProperty("a");
  aside = null;
  expect(await heldObjects([rows])).toBe(0);
});

it("lets rows give way to those that were used since, whatever the size of the last ones", () => {
  const [first, second, third, large] = [2, 2, 2, 9].map((n) => ({ hidden: new Float32Array(n) }));
  const room = (rows: typeof first) => usedRows(rows!, 16);
  const kept = () => [first, second, third, large].map((rows) => rows!.hidden !== null);
  for (const rows of [first, second, first, third]) room(rows);
  expect(kept()).toEqual([true, false, true, true]);
  room(large);
  expect(kept()).toEqual([false, false, false, true]);
});
