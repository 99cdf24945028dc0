/** The purchase that a server's goal was drawn from, as actions, where the server tells what it needs. */
import { RefusedError, type ShopClient } from "./client.ts";
import { LAST_PAGE, searchFor } from "./oracle.ts";
import { isSameOption } from "./reward.ts";

/** What can be clicked on a product's page beside its options. */
const BUTTONS = new Set([
  "back to search",
  "< prev",
  "description",
  "features",
  "reviews",
  "attributes",
  "buy now",
]);

/**
 * As `oracleActions`, over the contract. Null when a search for the product's title does not find it, and when the server
 * refuses `/goal` or `/replay`, as the one for evaluation does.
 *
 * @throws InputError when the server does not answer, or answers with something else
 */
export async function serverOracle(client: ShopClient, goal: number): Promise<string[] | null> {
  try {
    return await purchase(client, goal);
  } catch (error) {
    if (error instanceof RefusedError) return null;
    throw error;
  }
}

async function purchase(client: ShopClient, goal: number): Promise<string[] | null> {
  const wanted = await client.goal(goal);
  if (typeof wanted.name !== "string") return null;
  const actions = [searchFor(wanted.name)];
  const product = wanted.asin.toLowerCase();
  const offered = async () => (await client.replay(goal, actions)).available_actions.at(-1)?.clickables ?? [];
  while (!(await offered()).includes(product)) {
    if (actions.length > LAST_PAGE) return null;
    actions.push("click[next >]");
  }
  actions.push(`click[${product}]`);
  const options = (await offered()).filter((label) => !BUTTONS.has(label));
  const choices = options.filter((value) =>
    wanted.goal_options.some(
      (option) =>
        option.toLowerCase() === value ||
        (!options.includes(option.toLowerCase()) && isSameOption(value, option)),
    ),
  );
  return [...actions, ...choices.map((label) => `click[${label}]`), "click[buy now]"];
}
