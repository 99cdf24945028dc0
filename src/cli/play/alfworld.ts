import { basename } from "node:path";
import { sha256Hex } from "../../node/sha256.ts";
import { AlfworldEnvironment } from "../../simulator/alfworld/environment.ts";
import { openGame } from "../../simulator/alfworld/game.ts";
import { UsageError } from "../command.ts";
import { readText } from "../io.ts";
import type { PlayOptions, PlaySession } from "./simulator.ts";

/** One game file. The task, which is part of every key, is `--task` or the file's base name. */
export async function openAlfworld({ game: file, task, simulator }: PlayOptions): Promise<PlaySession> {
  if (file === undefined) throw new UsageError("--environment alfworld needs --game FILE");
  if (simulator !== undefined) throw new UsageError("--simulator is not for alfworld, which is built in");
  const game = openGame(await readText(file), file, { hash: sha256Hex });
  return { environment: new AlfworldEnvironment(() => game), task: task ?? basename(file) };
}
