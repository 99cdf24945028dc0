import { expect, it } from "vitest";
import { madeGames, madeShops, madeTasks } from "./made-games.ts";
import { Shop } from "./webshop/shop.ts";

it("names the tasks of made games without making them", () => {
  const games = { count: 3, seed: 4, size: "medium" } as const;
  expect(madeTasks("alfworld", games)).toEqual(madeGames(games).map(({ make }) => make().task));
  const shops = { count: 2, seed: 7, products: 3 };
  const tasks = madeShops(shops).flatMap(({ make }) => {
    const shop = new Shop(make());
    return [...shop.catalogue.goals.keys()].map((goal) => shop.taskOf(goal));
  });
  expect(madeTasks("webshop", shops)).toEqual(tasks);
});

it("makes mini games, of a world too, and says what does not apply", () => {
  const mini = { count: 5, seed: 2, size: "mini", world: 9 } as const;
  expect(madeTasks("alfworld", mini)).toEqual(madeGames(mini).map(({ make }) => make().task));
  expect(madeTasks("alfworld", mini)[0]).toBe("made/mini/world-9/pick_heat_then_place_in_recep-2");
  expect(() => madeGames({ count: 1, seed: 0, world: 9 })).toThrow(
    "environment.made.world: only applies with size mini",
  );
  expect(() => madeGames({ count: 1, seed: 0, size: "mini", type: "look_at_obj_in_light" })).toThrow(
    "environment.made.type: mini games have no such tasks; expected pick_and_place_simple, ",
  );
  expect(() => madeShops({ count: 1, seed: 0, world: 1 })).toThrow(
    "environment.made.world: does not apply to webshop",
  );
});

it("bounds the products of all shops together, and games by their count alone", () => {
  expect(madeShops({ count: 100, seed: 0, products: 5_000 })).toHaveLength(100);
  expect(() => madeShops({ count: 101, seed: 0, products: 5_000 })).toThrow(
    "environment.made.count: 101 shops of 5000 products do not fit in memory; expected at most 100",
  );
  expect(() => madeTasks("webshop", { count: 2_501, seed: 0 })).toThrow("expected at most 2500");
  expect(madeGames({ count: 2_501, seed: 0 })).toHaveLength(2_501);
});
