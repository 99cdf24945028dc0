import { expect, it } from "vitest";
import { scoredSide } from "../../../../test/support/token-scores.ts";
import type { Distribution } from "../../compute/side.ts";
import { alternatives } from "./alternatives.ts";

/** Two most probable tokens in each of two places. */
const of = (topIds: number[], topLogprobs: number[]): Distribution => ({
  entropy: new Float32Array(2),
  top: 2,
  topIds: Uint32Array.from(topIds),
  topLogprobs: Float32Array.from(topLogprobs),
  texts: new Map([
    [7, "seven"],
    [8, "eight"],
    [9, "nine"],
  ]),
});

const side = (key: string, logprobs: number[], distribution: Distribution) =>
  scoredSide(key, logprobs, { ids: [5, 6], distribution });

it("lists the most probable tokens of both sides and the token itself, with what each side knows", () => {
  const base = side("vanilla", [-9, -4], of([1, 2, 7, 8], [-1, -2, -0.5, -1.5]));
  const graph = side("graph", [-9, -3], of([1, 2, 8, 9], [-1, -2, -0.25, -2]));
  const rows = alternatives(base, graph, 1, "own");
  expect(rows.map(({ text, own }) => [text, own])).toEqual([
    ["eight", false],
    ["seven", false],
    ["nine", false],
    ["own", true],
  ]);
  expect(rows[0]).toMatchObject({ base: { logprob: -1.5, atMost: false, rank: 2 }, side: { rank: 1 } });
  // Beyond the known ones a token is at most as probable as the last known one.
  expect(rows[1]!.side).toEqual({ logprob: -2, atMost: true, rank: null });
  expect(rows[3]).toMatchObject({ base: { logprob: -4, atMost: false }, side: { logprob: -3, rank: null } });
});

it("takes what a side told of tokens that only the other one lists", () => {
  const base = side("vanilla", [-9, -4], of([1, 2, 7, 8], [-1, -2, -0.5, -1.5]));
  const graph = side("graph", [-9, -3], {
    ...of([1, 2, 8, 9], [-1, -2, -0.25, -2]),
    further: new Map([["1 7", -13.5]]),
  });
  const seven = alternatives(base, graph, 1, "own").find(({ id }) => id === 7)!;
  expect(seven.side).toEqual({ logprob: -13.5, atMost: false, rank: null });
});
