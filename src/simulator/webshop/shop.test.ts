import { expect, test } from "vitest";
import { type Catalogue, readCatalogue } from "./catalogue.ts";
import { makeCatalogue } from "./made-catalogue.ts";
import { oracleActions } from "./oracle.ts";
import { Shop } from "./shop.ts";

/** A made shop whose first product, wanted by the first goal, is changed. */
function shopWith(change: (catalogue: Catalogue) => void): Shop {
  const catalogue = makeCatalogue({ seed: 1, products: 12 });
  change(catalogue);
  return new Shop(readCatalogue(JSON.stringify(catalogue), "shop.json"));
}

/** Opens the first goal's product. */
function atFirstProduct(shop: Shop) {
  const episode = shop.open(0);
  const actions = oracleActions(shop, 0)!;
  const click = actions.findIndex((action) => action.includes("made000000"));
  for (const action of actions.slice(0, click + 1)) episode.step(action);
  return episode;
}

test("reviews are shown one after the other", () => {
  const shop = shopWith(({ products }) => {
    products[0]!.Reviews = [{ title: "Fine", score: 4.5, body: "" }];
  });
  const episode = atFirstProduct(shop);
  episode.step("click[reviews]");
  expect(episode.observation).toMatch(/\[button\] < Prev \[button_\]\n"Fine"\n4\.5\n$/);
});

test("a product that a search for its title does not find has no oracle", () => {
  const shop = shopWith(({ products, prices }) => {
    const [first] = products;
    // A search gives the first 50 of equals.
    for (let i = 0; i < 50; i++) {
      const asin = `COPY${i}`;
      products.unshift({ ...first!, asin });
      prices[asin] = 1;
    }
  });
  expect(oracleActions(shop, 0)).toBeNull();
});

test("a value that two options have is chosen for the later one", () => {
  const episode = atFirstProduct(
    shopWith(({ products }) => {
      products[0]!.options = { inner: ["red", "blue"], outer: ["red"] };
    }),
  );
  episode.step("click[red]");
  expect(episode.page.options).toEqual({ outer: "red" });
  expect(episode.actions.clickables.filter((label) => label === "red")).toHaveLength(1);
});

test("the final page writes options as HTML pages carry JSON, sorted", () => {
  const episode = atFirstProduct(
    shopWith(({ products }) => {
      products[0]!.options = { size: ["men's <9>"], color: ['café & "crème"'] };
    }),
  );
  for (const action of ["click[men's <9>]", 'click[café & "crème"]', "click[buy now]"]) episode.step(action);
  expect(episode.observation).toContain(
    '\n{"color": "caf\\u00e9 \\u0026 \\"cr\\u00e8me\\"", "size": "men\\u0027s \\u003c9\\u003e"}\n',
  );
});

test("after the purchase nothing is done any more", () => {
  const episode = atFirstProduct(shopWith(() => undefined));
  expect(episode.step("click[buy now]").done).toBe(true);
  expect(episode.actions.clickables).toEqual([]);
  expect(() => episode.step("search[lamp]")).toThrow("the episode is over");
});

test("what a page does not offer is rejected, and leaves it as it is", () => {
  const episode = atFirstProduct(shopWith(() => undefined));
  const { observation } = episode;
  for (const action of ["look", "click[]", "click[next >]", "click[nothing]", "Click[buy now]", "search[]"]) {
    expect(episode.step(action)).toEqual({ rejected: true, reward: 0, done: false });
    expect(episode.observation).toBe(observation);
  }
  expect(episode.step("click[back to search]").rejected).toBe(false);
  expect(episode.step("click[search]").rejected).toBe(true);
  expect(episode.step("search[lamp]").rejected).toBe(false);
});

test("episodes of one shop do not see each other", () => {
  const shop = shopWith(() => undefined);
  const [one, other] = [atFirstProduct(shop), shop.open(0)];
  const before = other.observation;
  one.step("click[buy now]");
  expect(other.observation).toBe(before);
  expect(other.done).toBe(false);
});

test("a goal that the catalogue lacks is refused", () => {
  expect(() => shopWith(() => undefined).open(12)).toThrow("goal: expected a goal from 0 to 11, received 12");
});
