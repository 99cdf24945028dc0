import { basename } from "node:path";
import { AlfworldEnvironment } from "../../simulator/alfworld/environment.ts";
import { UsageError } from "../command.ts";
import { gameFile, openGameFile } from "./open-game-file.ts";
import type { PlayOptions, PlaySession } from "./simulator.ts";

/** One game file. The task, which is part of every key, is `--task` or the file's base name. */
export async function openAlfworld({
  game: file,
  task,
  simulator,
  server,
}: PlayOptions): Promise<PlaySession> {
  if (file === undefined) throw new UsageError("--environment alfworld needs --game FILE");
  if (simulator !== undefined) throw new UsageError("--simulator is not for alfworld, which is built in");
  if (server !== undefined) throw new UsageError("--server is not for alfworld, which is built in");
  const game = await openGameFile(gameFile(file));
  return { environment: new AlfworldEnvironment(() => game), task: task ?? basename(file) };
}
