import { expect, test } from "vitest";
import type { Catalogue } from "./catalogue.ts";
import { readCatalogue } from "./catalogue.ts";
import { makeCatalogue } from "./made-catalogue.ts";

function refusal(change: (catalogue: Catalogue) => unknown): string {
  const catalogue = makeCatalogue({ seed: 1, products: 3 });
  const changed = change(catalogue) ?? catalogue;
  try {
    readCatalogue(JSON.stringify(changed), "shop.json");
  } catch (error) {
    return String(error);
  }
  return "accepted";
}

test.each<[string, (catalogue: Catalogue) => unknown, string]>([
  [
    "a shop without goals",
    (c) => ({ ...c, goals: [] }),
    "shop.json, goals: expected at least 1 entry, received 0",
  ],
  ["no goals at all", (c) => ({ ...c, goals: undefined }), "shop.json, goals: missing; expected array"],
  ["no products", (c) => ({ ...c, products: [] }), "products: expected at least 1 entry"],
  [
    "a goal for what is not sold",
    (c) => {
      c.goals[1]!.asin = "X";
    },
    'goals[1].asin: expected the asin of a product, received "X"',
  ],
  [
    "a product twice",
    (c) => {
      c.products.push(c.products[0]!);
    },
    'products[3].asin: "MADE000000" is there twice',
  ],
  [
    "no price",
    (c) => {
      delete c.prices.MADE000002;
    },
    'prices["MADE000002"]: missing; expected the price of products[2]',
  ],
  [
    "an option that cannot be clicked",
    (c) => {
      c.products[0]!.options = { size: ["XL"] };
    },
    "products[0].options.size[0]: expected lower case",
  ],
  [
    "a product that cannot be clicked",
    (c) => {
      c.products[0]!.asin = "b0";
    },
    "products[0].asin: expected upper case",
  ],
  [
    "a limit that is not one",
    (c) => {
      c.goals[0]!.price_upper = 0;
    },
    "goals[0].price_upper: expected more than 0, received 0",
  ],
  [
    "a goal without attributes",
    (c) => {
      c.goals[0]!.attributes = [];
    },
    "goals[0].attributes: expected at least 1 entry",
  ],
  ["a list", () => [], "expected object, received array"],
])("%s is refused in one line", (_name, change, expected) => {
  expect(refusal(change)).toContain(expected);
});

test("half a file is not JSON", () => {
  expect(() => readCatalogue('{"goals": [', "shop.json")).toThrow(/^shop\.json: not JSON/);
});
