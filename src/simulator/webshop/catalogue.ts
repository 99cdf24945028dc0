/** The catalogue of a shop: products, prices and goals, as one JSON file keeps them. */
import { z } from "zod";
import { InputError } from "../../core/errors.ts";
import { parseJsonText } from "../../core/json.ts";
import { checkedBy } from "../../core/record/describe-issue.ts";

const filled = z.string().regex(/\S/, "expected text that is not blank");

/** Clicks arrive in lower case, so an option in upper case could never be chosen. */
const optionValue = filled.refine((value) => value === value.toLowerCase(), "expected lower case");

const productSchema = z.looseObject({
  /** Pages show it in upper case, and a click is turned back into that. */
  asin: z.string().regex(/^[^\s[\]a-z]+$/, "expected upper case without spaces or brackets"),
  Title: filled,
  Description: z.string(),
  BulletPoints: z.array(z.string()),
  /** As pages show it: `$11.5 to $49.0`. */
  Price: z.string(),
  Rating: z.union([z.string(), z.number()]),
  Reviews: z.array(
    z.looseObject({ title: z.string(), score: z.union([z.string(), z.number()]), body: z.string() }),
  ),
  /** Name → values, both as pages show them. */
  options: z.record(z.string(), z.array(optionValue)),
  Attributes: z.array(z.string()),
  query: z.string(),
  /** Levels separated by `›`. */
  product_category: z.string(),
  name: z.string(),
});

const goalSchema = z.looseObject({
  asin: z.string(),
  instruction_text: filled,
  attributes: z.array(z.string()).min(1),
  goal_options: z.array(z.string()),
  price_upper: z.number().positive(),
  query: z.string(),
  product_category: z.string(),
  name: z.string(),
});

const catalogueSchema = z.looseObject({
  /** Stands before the shop's tasks (`made/shop-7/goal3`); a catalogue without it has `goal3`. */
  name: filled.optional(),
  products: z.array(productSchema).min(1),
  /** Product → price in dollars, which a listed range leaves open. */
  prices: z.record(z.string(), z.number().nonnegative()),
  goals: z.array(goalSchema).min(1),
});

export type Product = z.infer<typeof productSchema>;
export type Goal = z.infer<typeof goalSchema>;
export type Catalogue = z.infer<typeof catalogueSchema>;

/**
 * A catalogue from the text of its file.
 *
 * @throws InputError that names file and key: no goals, a product twice, without a price or never sold, ...
 */
export function readCatalogue(text: string, file: string): Catalogue {
  const catalogue = checkedBy(catalogueSchema, parseJsonText(text, { file }), { file });
  const { products, prices, goals } = catalogue;
  const seen = new Set<string>();
  for (const [i, { asin }] of products.entries()) {
    if (seen.has(asin))
      throw new InputError(`${JSON.stringify(asin)} is there twice`, { file, key: `products[${i}].asin` });
    if (!Object.hasOwn(prices, asin))
      throw new InputError(`missing; expected the price of products[${i}]`, {
        file,
        key: `prices[${JSON.stringify(asin)}]`,
      });
    seen.add(asin);
  }
  for (const [i, { asin }] of goals.entries())
    if (!seen.has(asin))
      throw new InputError(`expected the asin of a product, received ${JSON.stringify(asin)}`, {
        file,
        key: `goals[${i}].asin`,
      });
  return catalogue;
}
