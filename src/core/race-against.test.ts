import { expect, it } from "vitest";
import { heldObjects } from "../../test/support/garbage.ts";
import { raceAgainst } from "./race-against.ts";

const never = new Promise<never>(() => {});

it("settles as the work does", async () => {
  const race = raceAgainst(never);
  expect(await race(Promise.resolve(3))).toBe(3);
  await expect(race(Promise.reject(new Error("no")))).rejects.toThrow("no");
});

it("settles as the lasting promise where that comes first, and from then on", async () => {
  let fail: (error: Error) => void = () => {};
  const race = raceAgainst(
    new Promise<never>((_, reject) => {
      fail = reject;
    }),
  );
  const before = [race(never), race(never)];
  fail(new Error("lost"));
  // Work that fails later is no unhandled rejection.
  const failing = race(new Promise((_, reject) => setTimeout(reject, 1, new Error("too late"))));
  for (const each of [...before, race(never), failing]) await expect(each).rejects.toThrow("lost");
  await new Promise((resolve) => setTimeout(resolve, 5));
  let end: (value: string) => void = () => {};
  const other = raceAgainst(
    new Promise<string>((resolve) => {
      end = resolve;
    }),
  );
  const waiting = other(never);
  end("over");
  expect(await waiting).toBe("over");
});

it("keeps nothing of a race that is over, as Promise.race does", async () => {
  const race = raceAgainst(never);
  const results = async (run: (work: Promise<object>) => Promise<object>) =>
    Promise.all(
      Array.from({ length: 5 }, async () => {
        const result = {};
        await run(Promise.resolve(result));
        return new WeakRef<object>(result);
      }),
    );
  expect(await heldObjects(await results(race))).toBe(0);
  expect(await heldObjects(await results((work) => Promise.race([work, never])))).toBe(5);
});
