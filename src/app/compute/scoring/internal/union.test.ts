import { expect, it } from "vitest";
import { distributionOf as of } from "../../../../../test/support/distributions.ts";
import { scoredSide } from "../../../../../test/support/token-scores.ts";
import { InputError } from "../../../../core/errors.ts";
import { type Side, tokenKey } from "../../side.ts";
import { withUnion } from "./union.ts";

/** A side of two tokens, with a hidden row of one number in each place: 10 and 20. */
function side(key: string, topIds: number[], changed: Partial<Side> = {}): Side {
  const distribution = { ...of(topIds), rows: { hidden: Float32Array.of(10, 20) } };
  return scoredSide(key, [-1, -1], { distribution, ...changed });
}

/** Tells row − id, and notes which sides were asked. */
function head() {
  const asked: string[] = [];
  const headOf = async ({ key }: Side) => {
    asked.push(key);
    return async (rows: Float32Array, ids: number[]) => rows.map((row, i) => row - ids[i]!);
  };
  return { asked, headOf };
}

it("brings the union when a side is added: both ways, and only what is not known yet", async () => {
  const { asked, headOf } = head();
  const first = side("first", [1, 2, 3, 4]);
  const both = await withUnion([first, side("second", [1, 5, 3, 4])], headOf);
  expect(asked).toEqual(["first", "second"]);
  expect([...both[0]!.distribution!.further!]).toEqual([[tokenKey(0, 5), 5]]);
  expect([...both[1]!.distribution!.further!]).toEqual([[tokenKey(0, 2), 8]]);

  const three = await withUnion([...both, side("third", [1, 2, 3, 6])], headOf);
  expect(asked.slice(2)).toEqual(["first", "second", "third"]);
  expect(three[0]!.distribution!.further!.get(tokenKey(0, 5))).toBe(5);
  expect(three[0]!.distribution!.further!.get(tokenKey(1, 6))).toBe(14);
  const again = await withUnion(three, headOf);
  expect(asked).toHaveLength(5);
  expect(again.every((each, i) => each === three[i])).toBe(true);
});

it("asks no model for another response, for ids that it does not have, or without its rows", async () => {
  const { asked, headOf } = head();
  const first = side("first", [1, 2, 3, 4]);
  const gone = { ...of([1, 2, 3, 60]), rows: { hidden: null } };
  const others = [
    side("other response", [1, 9, 3, 4], { ids: [1, 3] }),
    side("recorded", [1, 2, 3, 4], { model: null, distribution: null }),
    side("larger vocabulary", [], { distribution: gone }),
  ];
  const sides = [first, ...others];
  expect(await withUnion(sides, headOf)).toEqual(sides);
  expect(asked).toEqual([]);
});

it("a side whose model cannot be asked stays as it is, and the others are told; a stop stops all", async () => {
  const { headOf } = head();
  const sides = [side("closed", [1, 2, 3, 4]), side("gone", [1, 6, 3, 4]), side("open", [1, 5, 3, 4])];
  const [closed, gone, open] = await withUnion(sides, async (each) => {
    if (each.key === "gone") throw new InputError("the model cannot be opened");
    return each.key === "closed" ? null : headOf(each);
  });
  expect(closed).toBe(sides[0]);
  expect(gone).toBe(sides[1]);
  expect([...open!.distribution!.further!.keys()]).toEqual([tokenKey(0, 2), tokenKey(0, 6)]);
  const stop = new DOMException("stopped", "AbortError");
  await expect(withUnion(sides, () => Promise.reject(stop))).rejects.toBe(stop);
});
