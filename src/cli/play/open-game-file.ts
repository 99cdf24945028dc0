import { sha256Hex } from "../../node/sha256.ts";
import { type Game, openGame } from "../../simulator/alfworld/game.ts";
import { readText } from "../io.ts";

/**
 * Opens an ALFWorld game. Its keys are hashed by Node, many times faster than by the implementation that pages use.
 *
 * @throws InputError for a file that cannot be read or is no game
 */
export async function openGameFile(file: string): Promise<Game> {
  return openGame(await readText(file), file, { hash: sha256Hex });
}
