import { readdir, stat } from "node:fs/promises";
import { basename, join } from "node:path";
import { InputError } from "../../core/errors.ts";
import type { TaskOrigin } from "../../core/loop/index.ts";
import { onFile } from "../../node/file-error.ts";
import { sha256OfParts } from "../../node/sha256.ts";
import { alfworldGameSet, GAME_ENDING, gamesByTask } from "../../simulator/alfworld/game-set.ts";
import { type GameText, textsDigest } from "../../simulator/game-set.ts";
import { madeGames, madeGameText } from "../../simulator/made-games.ts";
import { gameFile } from "../play/open-game-file.ts";
import type { GameFiles } from "./game-files.ts";

/**
 * Household games, as tasks.
 *
 * @throws InputError for a file that is not a game, a folder without any, and two games of one task
 */
export async function alfworldGames(place: TaskOrigin<"alfworld">): Promise<GameFiles> {
  const texts =
    "made" in place
      ? new Map(madeGames(place.made).map((made) => [made.task, madeGameText(made)]))
      : await gameFiles(place.games);
  const games = alfworldGameSet(texts, { hash: sha256OfParts });
  return {
    ...games,
    digest: (tasks) => textsDigest(tasks.map(games.textOf)),
    close: async () => undefined,
  };
}

/** The game files among paths, and in folders, where they are called by their path. */
async function gameFiles(paths: readonly string[]): Promise<Map<string, GameText>> {
  const files: (GameText & { name: string })[] = [];
  for (const path of paths) {
    if (!(await onFile(path, "read", stat(path))).isDirectory()) {
      files.push({ ...gameFile(path), name: basename(path) });
      continue;
    }
    const names = (await onFile(path, "read", readdir(path, { recursive: true })))
      .map((name) => name.replaceAll("\\", "/"))
      .filter((name) => name.endsWith(GAME_ENDING))
      .sort();
    if (names.length === 0)
      throw new InputError(`holds no game; expected files that end in ${GAME_ENDING}`, { file: path });
    for (const name of names) files.push({ ...gameFile(join(path, name)), name });
  }
  return gamesByTask(files);
}
