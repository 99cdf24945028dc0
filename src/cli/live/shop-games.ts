import { GAME_PLANS, type GameText, textsDigest } from "../../simulator/game-set.ts";
import { shopGameSet } from "../../simulator/webshop/game-set.ts";
import { progress } from "../io.ts";
import type { GameFiles } from "./game-files.ts";

/**
 * The goals of some shops' catalogues, as tasks.
 *
 * @throws InputError for a file that is not a catalogue, and for two shops with the same task names
 */
export async function shopGames(texts: readonly GameText[]): Promise<GameFiles> {
  const games = await shopGameSet(texts);
  return {
    ...games,
    ...GAME_PLANS.webshop,
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
