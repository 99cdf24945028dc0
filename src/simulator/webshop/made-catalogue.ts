/** Shops of our own: catalogues that follow from a seed, so that nobody needs WebShop's data to try the environment. */
import { uniforms } from "../../core/seeded.ts";
import type { Catalogue, Goal, Product } from "./catalogue.ts";

interface Kind {
  name: string;
  category: string;
  traits: readonly string[];
  sizes: readonly string[];
}

const KINDS: readonly Kind[] = [
  {
    name: "desk lamp",
    category: "Home › Lighting › Desk Lamps",
    traits: ["dimmable", "energy saving", "foldable", "cordless", "flicker free"],
    sizes: ["12 inch", "16 inch", "20 inch"],
  },
  {
    name: "floor lamp",
    category: "Home › Lighting › Floor Lamps",
    traits: ["dimmable", "energy saving", "adjustable", "easy to assemble", "flicker free"],
    sizes: ["55 inch", "62 inch", "70 inch"],
  },
  {
    name: "coffee mug",
    category: "Kitchen › Cups › Mugs",
    traits: ["dishwasher safe", "handmade", "leak proof", "double walled", "lead free"],
    sizes: ["8 ounce", "12 ounce", "16 ounce"],
  },
  {
    name: "water bottle",
    category: "Kitchen › Cups › Bottles",
    traits: ["dishwasher safe", "leak proof", "double walled", "bpa free", "lightweight"],
    sizes: ["16 ounce", "24 ounce", "32 ounce"],
  },
  {
    name: "running shoes",
    category: "Clothing › Shoes › Running",
    traits: ["lightweight", "non slip", "breathable", "quick drying", "arch support"],
    sizes: ["7", "8", "9", "10"],
  },
  {
    name: "rain boots",
    category: "Clothing › Shoes › Boots",
    traits: ["waterproof", "non slip", "lightweight", "ankle high", "easy to clean"],
    sizes: ["7", "8", "9", "10"],
  },
  {
    name: "office chair",
    category: "Furniture › Office › Chairs",
    traits: ["adjustable", "heavy duty", "easy to assemble", "breathable", "lumbar support"],
    sizes: ["small", "medium", "large"],
  },
  {
    name: "phone case",
    category: "Electronics › Phones › Cases",
    traits: ["shock proof", "lightweight", "non slip", "wireless charging", "scratch resistant"],
    sizes: ["mini", "plus", "max"],
  },
];

const COLORS = ["black", "white", "red", "green", "blue", "yellow", "purple", "gray"];
const BRANDS = ["Arvo", "Belmont", "Corva", "Dunmore", "Elska", "Fennel", "Garrick", "Hollis"];

/** WebShop's price limits: multiples of ten. */
const nextTens = (price: number): number[] =>
  [1, 2, 3, 4].map((step) => 10 * (Math.floor(price / 10) + step));

const title = (words: string): string => words.replace(/(^| )[a-z]/g, (start) => start.toUpperCase());

const dollars = (price: number): string => `$${price.toFixed(2)}`;

/** What a made shop is drawn from. */
export interface MadeShop {
  /** The same seed gives the same shop; splits are ranges of seeds. */
  seed: number;
  /** Products, with one goal for each: at most `MOST_PRODUCTS`, if a search is to find every one. */
  products: number;
}

/** What a made shop is called, before its goals. */
export const madeShopName = (seed: number): string => `made/shop-${seed}`;

/** Draws a catalogue. Its tasks are named `made/shop-SEED/goalN`, and buying what a goal was drawn from earns 1. */
export function makeCatalogue({ seed, products: count }: MadeShop): Catalogue {
  const uniform = uniforms(seed);
  const below = (bound: number): number => Math.floor(uniform() * bound);
  const pick = <T>(list: readonly T[]): T => list[below(list.length)]!;
  const some = <T>(list: readonly T[], size: number): T[] => {
    const rest = [...list];
    return Array.from({ length: size }, () => rest.splice(below(rest.length), 1)[0]!);
  };
  const [products, goals]: [Product[], Goal[]] = [[], []];
  const prices: Record<string, number> = {};

  for (let i = 0; i < count; i++) {
    const kind = pick(KINDS);
    const [first, second, third] = some(kind.traits, 3) as [string, string, string];
    const asin = `MADE${String(i).padStart(6, "0")}`;
    const name = title(`${pick(BRANDS)} ${first} ${kind.name}`);
    const options: Record<string, string[]> = {};
    if (uniform() < 0.8) options.color = some(COLORS, 3);
    if (uniform() < 0.6) options.size = some(kind.sizes, 3);
    const price = 5 + below(9_000) / 100;
    const dearest = price + 5 + below(2_000) / 100;
    prices[asin] = price;
    products.push({
      asin,
      Title: name,
      Description: `A ${kind.name} that is ${second}.`,
      BulletPoints: [`${first} ${kind.name}`, third],
      Price: uniform() < 0.2 ? `${dollars(price)} to ${dollars(dearest)}` : dollars(price),
      Rating: "N.A.",
      Reviews: [],
      options,
      Attributes: [first, second],
      query: kind.name,
      product_category: kind.category,
      name,
    });
    const chosen = Object.entries(options).map(([option, values]) => [option, pick(values)] as const);
    const limit = Math.max(...some(nextTens(price), 2));
    const wishes = chosen.map(([option, value]) => `, with ${option} ${value}`).join("");
    goals.push({
      asin,
      instruction_text: `i need a ${first} ${kind.name} that is ${third}${wishes}, and price lower than ${limit.toFixed(2)} dollars`,
      attributes: [first, third],
      goal_options: chosen.map(([, value]) => value),
      price_upper: limit,
      query: kind.name,
      product_category: kind.category,
      name,
    });
  }
  return { name: madeShopName(seed), products, prices, goals };
}
