/** What the command line needs of a simulator. */
import type { EnvironmentName, TaskOrigin } from "../../core/loop/index.ts";
import type { Environment } from "../../core/ports.ts";
import type { GameFiles } from "../live/game-files.ts";

export interface PlayOptions {
  /** `--game`: the file of a game or a shop. */
  game?: string;
  /** `--task`: which task of it, or of the simulator. */
  task?: string;
  /** `--server`: the address of a running server, in place of `game`. */
  server?: string;
  /** `--simulator`: the file of a simulator that is not built in. */
  simulator?: string;
}

/** An opened environment and the task to play in it. */
export interface PlaySession {
  environment: Environment;
  task: string;
  /** Further keys of an output line, asked for after the reset and each action. */
  more?(): Promise<Record<string, unknown>>;
}

/** @throws InputError or UsageError, before anything is written */
export type OpenSimulator = (options: PlayOptions) => Promise<PlaySession>;

export interface Simulator<Name extends EnvironmentName> {
  /** For `gcopd play`. */
  open: OpenSimulator;
  /** For configs. `tasks`: those that one names. @throws InputError, with the key of the config */
  games(place: TaskOrigin<Name>, tasks: readonly string[] | undefined): Promise<GameFiles>;
}
