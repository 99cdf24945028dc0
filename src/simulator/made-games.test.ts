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

it("bounds the products of all shops together, and games by their count alone", () => {
  expect(madeShops({ count: 100, seed: 0, products: 5_000 })).toHaveLength(100);
  expect(() => madeShops({ count: 101, seed: 0, products: 5_000 })).toThrow(
    "environment.made.count: 101 shops of 5000 products do not fit in memory; expected at most 100",
  );
  expect(() => madeTasks("webshop", { count: 2_501, seed: 0 })).toThrow("expected at most 2500");
  expect(madeGames({ count: 2_501, seed: 0 })).toHaveLength(2_501);
});
