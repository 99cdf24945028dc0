import { expect, it } from "vitest";
import { Pending } from "../../../test/support/fake.ts";
import { Turns } from "./turns.ts";

it("does one piece after the other, in their order, also after one that fails", async () => {
  const turns = new Turns();
  const first = new Pending<number>();
  const begun: number[] = [];
  const piece = (n: number, work: Promise<number>) =>
    turns.take(() => {
      begun.push(n);
      return work;
    });
  const ends = [piece(1, first.promise), piece(2, Promise.resolve(2))];
  await Promise.resolve();
  expect(begun).toEqual([1]);
  first.reject(new Error("no"));
  await expect(ends[0]).rejects.toThrow("no");
  expect([await ends[1], begun]).toEqual([2, [1, 2]]);
});
