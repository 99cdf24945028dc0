import { expect, test } from "vitest";
import { inTurn } from "./read-ahead.ts";

interface Answer {
  resolve(value: number): void;
  reject(error: Error): void;
}

/** Reads that are answered by hand. */
function byHand(count: number) {
  const asked: Answer[] = [];
  const reads = Array.from(
    { length: count },
    () => () => new Promise<number>((resolve, reject) => asked.push({ resolve, reject })),
  );
  return { asked, reads };
}

test("so many reads are under way, and their values come in order", async () => {
  const { asked, reads } = byHand(5);
  const values = inTurn(reads, 2);
  const first = values.next();
  expect(asked).toHaveLength(3);
  asked[1]!.resolve(1);
  asked[0]!.resolve(0);
  expect(await first).toEqual({ done: false, value: 0 });
  expect(asked).toHaveLength(3);
  const second = values.next();
  expect(await second).toEqual({ done: false, value: 1 });
  expect(asked).toHaveLength(4);
  const rest = (async () => {
    const all: number[] = [];
    for await (const value of values) all.push(value);
    return all;
  })();
  for (const place of [2, 3]) asked[place]!.resolve(place);
  await expect.poll(() => asked.length).toBe(5);
  asked[4]!.resolve(4);
  expect(await rest).toEqual([2, 3, 4]);
});

test("a read that fails is told in its turn, and whoever ends early waits for those under way", async () => {
  const { asked, reads } = byHand(4);
  const values = inTurn(reads, 2);
  const first = values.next();
  asked[1]!.reject(new Error("unreadable"));
  asked[0]!.resolve(0);
  expect((await first).value).toBe(0);
  const second = values.next();
  asked[2]!.resolve(2);
  asked[3]!.resolve(3);
  await expect(second).rejects.toThrow("unreadable");
  expect(await values.next()).toEqual({ done: true, value: undefined });

  const other = byHand(4);
  const ended = inTurn(other.reads, 1);
  const one = ended.next();
  other.asked[0]!.resolve(0);
  await one;
  let over = false;
  const end = ended.return().then(() => {
    over = true;
  });
  await Promise.resolve();
  expect(over).toBe(false);
  other.asked[1]!.resolve(1);
  await end;
  expect(other.asked).toHaveLength(2);
});
