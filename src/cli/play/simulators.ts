import { ENVIRONMENT_NAMES, type EnvironmentName } from "../../core/loop/index.ts";
import { isOneOf } from "../../core/one-of.ts";
import { UsageError } from "../command.ts";
import { alfworldGames } from "../live/alfworld-games.ts";
import { scienceWorldTasks } from "../live/scienceworld-tasks.ts";
import { webShopGoals } from "../live/shop-games.ts";
import { openAlfworld } from "./alfworld.ts";
import { openScienceWorld } from "./scienceworld.ts";
import type { OpenSimulator, Simulator } from "./simulator.ts";
import { openWebShop } from "./webshop.ts";

/** The environments that can be played, by name. */
export const SIMULATORS: { readonly [Name in EnvironmentName]: Simulator<Name> } = {
  alfworld: { open: openAlfworld, games: alfworldGames },
  webshop: { open: openWebShop, games: webShopGoals },
  scienceworld: { open: openScienceWorld, games: scienceWorldTasks },
};

/** Their names, for help and messages. */
export const SIMULATOR_NAMES = Object.keys(SIMULATORS).join(", ");

/** Opens the environment that `--environment` names. @throws UsageError for another name */
export function simulatorNamed(name: string): OpenSimulator {
  if (isOneOf(ENVIRONMENT_NAMES, name)) return SIMULATORS[name].open;
  throw new UsageError(`--environment: cannot play ${JSON.stringify(name)}; expected ${SIMULATOR_NAMES}`);
}
