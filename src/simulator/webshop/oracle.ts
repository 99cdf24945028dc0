/** The purchase that a goal was drawn from, as actions: an oracle source for augmentation. */
import { isSameOption } from "./reward.ts";
import type { Shop } from "./shop.ts";

/** A search gives 50 products, ten per page. */
export const LAST_PAGE = 5;

/** A search for a product's title. */
export const searchFor = (title: string): string =>
  `search[${(title.toLowerCase().match(/[a-z0-9]+/g) ?? []).join(" ")}]`;

/**
 * Actions that search for a goal's product, open it, choose the wanted options and buy. Null when a search for the
 * product's own title does not find it, as where more than 50 products share a title.
 */
export function oracleActions(shop: Shop, goal: number): string[] | null {
  const { goal: wanted } = shop.open(goal);
  const product = shop.product(wanted.asin);
  const actions = [searchFor(product.Title)];
  const episode = shop.open(goal);
  episode.step(actions[0]!);
  const name = product.asin.toLowerCase();
  while (!episode.actions.clickables.includes(name)) {
    if (actions.length > LAST_PAGE) return null;
    actions.push("click[next >]");
    episode.step("click[next >]");
  }
  const choices = Object.values(product.options).flatMap(
    (values) =>
      values.find((value) => wanted.goal_options.some((option) => isSameOption(value, option))) ?? [],
  );
  return [...actions, ...[name, ...choices, "buy now"].map((label) => `click[${label}]`)];
}
