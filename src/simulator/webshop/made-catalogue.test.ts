import { expect, test } from "vitest";
import { WEBSHOP } from "../../core/environment/webshop/rules.ts";
import { readCatalogue } from "./catalogue.ts";
import { makeCatalogue } from "./made-catalogue.ts";
import { oracleActions } from "./oracle.ts";
import { Shop } from "./shop.ts";

test("a shop follows from its seed and is a catalogue that can be read", () => {
  const made = makeCatalogue({ seed: 4, products: 30 });
  expect(makeCatalogue({ seed: 4, products: 30 })).toEqual(made);
  expect(makeCatalogue({ seed: 5, products: 30 }).goals).not.toEqual(made.goals);
  expect(readCatalogue(JSON.stringify(made), "shop.json")).toEqual(made);
});

test("its tasks say that they are made", () => {
  const shop = new Shop(makeCatalogue({ seed: 4, products: 3 }));
  expect(shop.taskOf(2)).toBe("made/shop-4/goal2");
  expect(shop.goalOf("made/shop-4/goal2")).toBe(2);
  expect(shop.goalOf("goal2")).toBe(2);
  for (const other of ["goal3", "made/shop-5/goal2", "goal02", "2", ""])
    expect(() => shop.goalOf(other)).toThrow("expected a task from made/shop-4/goal0 to made/shop-4/goal2");
});

test("the oracle wins every goal within the limit of decisions", () => {
  for (const seed of [1, 2, 3]) {
    const shop = new Shop(makeCatalogue({ seed, products: 40 }));
    for (const goal of shop.catalogue.goals.keys()) {
      const episode = shop.open(goal);
      const actions = oracleActions(shop, goal)!;
      expect(actions.length).toBeLessThanOrEqual(WEBSHOP.limits.decisions);
      const steps = actions.map((action) => episode.step(action));
      expect(steps.at(-1)).toEqual({ rejected: false, reward: 1, done: true });
      expect(steps.every(({ rejected, done }, i) => !rejected && done === (i === steps.length - 1))).toBe(
        true,
      );
    }
  }
});
