import { sha256OfParts } from "../../node/sha256.ts";
import { type Game, openGame } from "../../simulator/alfworld/game.ts";
import type { GameText } from "../../simulator/game-set.ts";
import { readText } from "../io.ts";

/** A game file on the disk. */
export const gameFile = (file: string): GameText => ({ label: file, read: () => readText(file) });

/**
 * Opens an ALFWorld game. Its keys are hashed by Node, many times faster than by the implementation that pages use.
 *
 * @throws InputError for a file that cannot be read or is not a game
 */
export async function openGameFile({ label, read }: GameText): Promise<Game> {
  return openGame(await read(), label, { hash: sha256OfParts });
}
