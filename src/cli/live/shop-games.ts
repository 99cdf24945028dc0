import { InputError } from "../../core/errors.ts";
import { readCatalogue } from "../../simulator/webshop/catalogue.ts";
import { ShopEnvironment } from "../../simulator/webshop/environment.ts";
import { oracleActions } from "../../simulator/webshop/oracle.ts";
import { Shop } from "../../simulator/webshop/shop.ts";
import { progress, readText } from "../io.ts";
import { filesDigest } from "../train/fingerprint.ts";
import type { GameFiles } from "./open-games.ts";

/**
 * The goals of some shops' catalogues, as tasks.
 *
 * @throws InputError for a file that is no catalogue, and for two shops with the same task names
 */
export async function shopGames(files: readonly string[]): Promise<GameFiles> {
  const shops = new Map<string, { shop: Shop; goal: number; file: string }>();
  for (const file of files) {
    const shop = new Shop(readCatalogue(await readText(file), file));
    for (const goal of shop.catalogue.goals.keys()) {
      const task = shop.taskOf(goal);
      const before = shops.get(task);
      if (before !== undefined)
        throw new InputError(
          `${before.file} has the same task names, ${JSON.stringify(task)}; give one a \`name\``,
          { file },
        );
      shops.set(task, { shop, goal, file });
    }
  }
  const of = (task: string) => shops.get(task)!;
  return {
    tasks: [...shops.keys()],
    open: (task) => new ShopEnvironment(of(task).shop),
    plan: async (task) => {
      const { shop, goal, file } = of(task);
      const actions = oracleActions(shop, goal);
      if (actions === null)
        progress(`${file}: ${task} has no oracle record: a search for its product's title does not find it`);
      return actions;
    },
    planKind: "oracle",
    planRepetition: 16,
    digest: (tasks) => filesDigest([...new Set(tasks.map((task) => of(task).file))]),
    close: async () => undefined,
  };
}
