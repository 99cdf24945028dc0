import { InputError } from "../../core/errors.ts";
import { sha256Hex } from "../../node/sha256.ts";
import { readCatalogue } from "../../simulator/webshop/catalogue.ts";
import { ShopEnvironment } from "../../simulator/webshop/environment.ts";
import { oracleActions } from "../../simulator/webshop/oracle.ts";
import { Shop } from "../../simulator/webshop/shop.ts";
import { progress } from "../io.ts";
import type { GameText } from "../play/open-game-file.ts";
import { digestOfDigests } from "../train/fingerprint.ts";
import type { GameFiles } from "./open-games.ts";

/**
 * The goals of some shops' catalogues, as tasks.
 *
 * @throws InputError for a file that is no catalogue, and for two shops with the same task names
 */
export async function shopGames(files: readonly GameText[]): Promise<GameFiles> {
  const shops = new Map<string, { shop: Shop; goal: number; file: string; digest: string }>();
  for (const { label: file, read } of files) {
    const text = await read();
    const digest = sha256Hex(text);
    const shop = new Shop(readCatalogue(text, file));
    for (const goal of shop.catalogue.goals.keys()) {
      const task = shop.taskOf(goal);
      const before = shops.get(task);
      if (before !== undefined)
        throw new InputError(
          `${before.file} has the same task names, ${JSON.stringify(task)}; give one a \`name\``,
          { file },
        );
      shops.set(task, { shop, goal, file, digest });
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
    digest: async (tasks) => digestOfDigests([...new Set(tasks.map((task) => of(task).digest))]),
    close: async () => undefined,
  };
}
