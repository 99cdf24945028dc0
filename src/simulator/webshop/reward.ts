/** What a purchase is worth: type, attributes, options and price (Appendix on WebShop's reward). */
import type { Goal, Product } from "./catalogue.ts";
import { tokenSetRatio } from "./similarity.ts";

/** From this similarity on two attributes, or two options, count as the same. */
const SAME = 86;

const COLORS = (
  "alabaster apricot aqua ash asphalt azure banana beige black blue blush bordeaux bronze brown burgundy camel camo " +
  "caramel champagne charcoal cheetah chestnut chocolate christmas coffee cognac copper coral cranberry cream crystal " +
  "dark denim eggplant elephant espresso fuchsia gold granite grape graphite grass gray green grey heather indigo ivory " +
  "ivy khaki lavender lemon leopard light lilac lime magenta maroon mauve merlot midnight mint mocha multicolor " +
  "mushroom mustard natural navy nude olive orange peach pewter pink plum purple rainbow red rose royal rust sand " +
  "sapphire seashell silver skull slate steel stone stonewash sunflower tan taupe teal tiger turquoise violet walnut " +
  "wheat white wine yellow"
).split(" ");

/** The first color of the list that the text holds, anywhere; the text itself without one. */
const colorOf = (option: string): string => COLORS.find((color) => option.includes(color)) ?? option;

/** The words of a name. WebShop takes its nouns, by a tagger; in a shop of ours every word counts as one. */
const nouns = (name: string): string[] => (name.match(/[A-Za-z]+/g) ?? []).map((word) => word.toLowerCase());

/** True when a chosen option is what a goal asked for, by its color where it has one. */
export const isSameOption = (chosen: string, wanted: string): boolean =>
  tokenSetRatio(colorOf(chosen), colorOf(wanted)) >= SAME;

const levels = (category: string): Set<string> => new Set(category.split("›").map((level) => level.trim()));

/** 1 for the kind of product that was asked for, down to 0 where not one noun agrees. */
function typeScore(product: Product, goal: Goal): number {
  const wanted = nouns(goal.name);
  const found = new Set(nouns(product.name));
  const agreeing = new Set(wanted.filter((noun) => found.has(noun))).size;
  const title = wanted.length === 0 ? 0.2 : agreeing / wanted.length;
  if (title === 0) return 0;
  if (title < 0.1) return 0.1;
  const own = levels(product.product_category);
  const commonLevels = [...levels(goal.product_category)].filter((level) => own.has(level)).length;
  return product.query === goal.query || commonLevels >= 2 || title > 0.2 ? 1 : 0.5;
}

function hasAttribute(product: Product, wanted: string): boolean {
  return (
    product.Attributes.some((attribute) => tokenSetRatio(attribute, wanted) >= SAME) ||
    [product.Title, product.BulletPoints.join(" "), product.Description].some((text) =>
      text.toLowerCase().includes(wanted),
    )
  );
}

/**
 * Reward of buying a product, 0 to 1:
 * r_type · (matched attributes + matched options + [price ≤ limit]) / (attributes + options + 1).
 *
 * @param price in dollars
 * @param options chosen values
 */
export function purchaseReward(
  product: Product,
  goal: Goal,
  price: number,
  options: readonly string[],
): number {
  const attributes = goal.attributes.filter((wanted) => hasAttribute(product, wanted)).length;
  const matched = goal.goal_options.filter((wanted) =>
    options.some((chosen) => isSameOption(chosen, wanted)),
  ).length;
  const inBudget = price <= goal.price_upper ? 1 : 0;
  const share = (attributes + matched + inBudget) / (goal.attributes.length + goal.goal_options.length + 1);
  return share * typeScore(product, goal);
}
