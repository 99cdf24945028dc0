import { expect, it } from "vitest";
import { evenShares, type Shared, scoringUnits, steadyShares } from "./share.ts";

const request = (first: number, prompt: number, response = 10): Shared => ({
  promptIds: Array.from({ length: prompt }, (_, i) => (i < prompt * 0.7 ? first : i)),
  responseIds: Array(response).fill(1),
});
const places = (shares: readonly { places: number[] }[]) =>
  shares.flatMap((share) => share.places).toSorted((a, b) => a - b);
const all = (n: number) => Array.from({ length: n }, (_, i) => i);

it("deals every request once, the dearest unit first, neighbours that share a prompt together", () => {
  const requests = [5, 5, 5, 6, 6, 7, 8, 8].map((first, n) => request(first, 6000 + n));
  const units = scoringUnits(requests, 2);
  expect(places(units)).toEqual(all(8));
  expect(units.map((unit) => unit.places)).toEqual(expect.arrayContaining([[0, 1, 2], [3, 4], [5], [6, 7]]));
  const costs = units.map(({ cost }) => cost);
  expect(costs).toEqual(costs.toSorted((a, b) => b - a));
});

it("cuts one shared prompt into a part for each card", () => {
  const requests = all(16).map(() => request(9, 6000));
  const units = scoringUnits(requests, 4);
  expect(units.map((unit) => unit.places.length)).toEqual([4, 4, 4, 4]);
  expect(places(units)).toEqual(all(16));
});

it("puts short requests together, and takes none, too", () => {
  const requests = all(100).map((n) => request(n, 50));
  expect(scoringUnits(requests, 2)).toHaveLength(2);
  expect(scoringUnits([], 2)).toEqual([]);
});

it("makes shares of even size, whatever the lengths, each in order", () => {
  for (const cards of [1, 2, 3, 4]) {
    const items = all(40).map((n) => request(n, 100 + ((n * 7919) % 900)));
    const shares = evenShares(items, cards);
    expect(shares).toHaveLength(cards);
    expect(places(shares)).toEqual(all(40));
    for (const share of shares) expect(share.places).toEqual(share.places.toSorted((a, b) => a - b));
    const costs = shares.map(({ cost }) => cost);
    expect(Math.max(...costs) / Math.min(...costs)).toBeLessThan(1.1);
  }
});

it("leaves an episode on one card unless that leaves the other idle", () => {
  const two = [...all(4).map(() => request(1, 500)), ...all(4).map(() => request(2, 500))];
  expect(evenShares(two, 2).map((share) => share.places)).toEqual([
    [0, 1, 2, 3],
    [4, 5, 6, 7],
  ]);
  const one = all(8).map(() => request(1, 500));
  expect(evenShares(one, 2).map((share) => share.places.length)).toEqual([4, 4]);
  expect(evenShares(one.slice(0, 1), 2).map((share) => share.places.length)).toEqual([1, 0]);
});

it("leaves a response on its card while the shares stay equal in number", () => {
  const ids = ["a", "b", "c", "d", "e"];
  const first = steadyShares(ids, 2, new Map());
  expect(first).toEqual([
    [0, 2, 4],
    [1, 3],
  ]);
  const before = new Map(first.flatMap((share, rank) => share.map((place) => [ids[place]!, rank] as const)));
  // "b" and "d" have ended: one of the other card's three moves over.
  expect(steadyShares(["a", "c", "e"], 2, before)).toEqual([[0, 1], [2]]);
  expect(steadyShares(["a", "b", "c", "d", "f"], 2, before)).toEqual([
    [0, 2, 4],
    [1, 3],
  ]);
  expect(steadyShares([], 2, before)).toEqual([[], []]);
});
