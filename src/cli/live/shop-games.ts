import type { TaskOrigin } from "../../core/loop/index.ts";
import { type GameText, textsDigest } from "../../simulator/game-set.ts";
import { madeGameText, madeShops } from "../../simulator/made-games.ts";
import { shopGameSet } from "../../simulator/webshop/game-set.ts";
import { progress } from "../io.ts";
import { gameFile } from "../play/open-game-file.ts";
import type { GameFiles } from "./game-files.ts";
import { shopServer } from "./shop-server.ts";

/**
 * The goals of some shops' catalogues, as tasks.
 *
 * @throws InputError for a file that is not a catalogue, and for two shops with the same task names
 */
export async function shopGames(texts: readonly GameText[]): Promise<GameFiles> {
  const games = await shopGameSet(texts);
  return {
    ...games,
    plan: async (task) => {
      const actions = await games.plan(task);
      if (actions === null) {
        const { label } = games.textOf(task);
        progress(`${label}: ${task} has no oracle record: a search for its product's title does not find it`);
      }
      return actions;
    },
    digest: (tasks) => textsDigest(tasks.map(games.textOf)),
    close: async () => undefined,
  };
}

/**
 * Goals of WebShop, as tasks: of a running server, or of shops that are made or read.
 *
 * @throws InputError as `shopServer` and `shopGames` do
 */
export async function webShopGoals(
  place: TaskOrigin<"webshop">,
  tasks: readonly string[] | undefined,
): Promise<GameFiles> {
  if ("server" in place) return shopServer(place, tasks);
  return shopGames("made" in place ? madeShops(place.made).map(madeGameText) : place.games.map(gameFile));
}
