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
