import { describe, expect, test } from "vitest";
import type { Goal, Product } from "./catalogue.ts";
import { makeCatalogue } from "./made-catalogue.ts";
import { purchaseReward } from "./reward.ts";
import { tokenSetRatio } from "./similarity.ts";

const { products, goals } = makeCatalogue({ seed: 1, products: 1 });
const product: Product = {
  ...products[0]!,
  Title: "Tin Cup",
  Description: "",
  BulletPoints: [],
  Attributes: ["easy clean"],
  query: "cup",
  product_category: "Home › Cups",
  name: "Tin Cup",
};
const goal: Goal = {
  ...goals[0]!,
  attributes: ["easy clean", "tin"],
  goal_options: ["navy blue"],
  price_upper: 20,
  query: "cup",
  product_category: "Home › Cups",
  name: "Tin Cup",
};

describe("a purchase", () => {
  test.each<[string, Partial<Product>, Partial<Goal>, number, string[], number]>([
    ["all that was asked for", {}, {}, 20, ["blue"], 1],
    ["too dear", {}, {}, 20.01, ["blue"], 3 / 4],
    ["another color", {}, {}, 20, ["red"], 3 / 4],
    ["an attribute missing", { Attributes: [] }, {}, 20, ["blue"], 3 / 4],
    ["another query, but the same levels", { query: "mug" }, {}, 20, ["blue"], 1],
    [
      "one noun of six, nothing else alike",
      { query: "mug", product_category: "A › B" },
      { name: "a b c d e Cup" },
      20,
      ["blue"],
      1 / 2,
    ],
    ["one noun of twelve", {}, { name: "a b c d e f g h i j k Cup" }, 20, ["blue"], 1 / 10],
    ["no noun alike", {}, { name: "Saucer" }, 20, ["blue"], 0],
    ["a goal without a noun", {}, { name: "12" }, 20, ["blue"], 1],
  ])("%s", (_name, ofProduct, ofGoal, price, options, expected) => {
    expect(purchaseReward({ ...product, ...ofProduct }, { ...goal, ...ofGoal }, price, options)).toBe(
      expected,
    );
  });
});

test("texts are compared as sets of words", () => {
  expect(tokenSetRatio("Easy-Clean", "clean, easy")).toBe(100);
  expect(tokenSetRatio("easy clean lamp", "easy clean")).toBe(100);
  expect(tokenSetRatio("", "easy")).toBe(0);
  expect(tokenSetRatio("abcd", "abce")).toBe(75);
  expect(tokenSetRatio("heavy duty", "heavy")).toBe(100);
  expect(tokenSetRatio("non slip sole", "non skid sole")).toBe(85);
});
