import { InputError } from "../../core/errors.ts";
import type { GameSet, GameText } from "../game-set.ts";
import { readCatalogue } from "./catalogue.ts";
import { ShopEnvironment } from "./environment.ts";
import { oracleActions } from "./oracle.ts";
import { Shop } from "./shop.ts";

/**
 * The goals of some shops' catalogues, as tasks. A plan is the purchase that the goal was drawn from, null where a
 * search for the product's title does not find it.
 *
 * @throws InputError for a file that is not a catalogue, and for two shops with the same task names
 */
export async function shopGameSet(texts: readonly GameText[]): Promise<GameSet> {
  const shops = new Map<string, { shop: Shop; goal: number; text: GameText }>();
  for (const text of texts) {
    const { label: file } = text;
    const shop = new Shop(readCatalogue(await text.read(), file));
    for (const goal of shop.catalogue.goals.keys()) {
      const task = shop.taskOf(goal);
      const before = shops.get(task);
      if (before !== undefined)
        throw new InputError(
          `${before.text.label} has the same task names, ${JSON.stringify(task)}; give one a \`name\``,
          { file },
        );
      shops.set(task, { shop, goal, text });
    }
  }
  const of = (task: string) => shops.get(task)!;
  return {
    environment: "webshop",
    tasks: [...shops.keys()],
    open: (task) => new ShopEnvironment(of(task).shop),
    plan: async (task) => oracleActions(of(task).shop, of(task).goal),
    textOf: (task) => of(task).text,
  };
}
