import { UsageError } from "../command.ts";
import { openAlfworld } from "./alfworld.ts";
import { openScienceWorld } from "./scienceworld.ts";
import type { OpenSimulator } from "./simulator.ts";
import { openWebShop } from "./webshop.ts";

/** The environments that can be played, by name. */
const SIMULATORS: ReadonlyMap<string, OpenSimulator> = new Map([
  ["alfworld", openAlfworld],
  ["webshop", openWebShop],
  ["scienceworld", openScienceWorld],
]);

/** Their names, for help and messages. */
export const SIMULATOR_NAMES = [...SIMULATORS.keys()].join(", ");

/** Opens the environment that `--environment` names. @throws UsageError for another name */
export function simulatorNamed(name: string): OpenSimulator {
  const open = SIMULATORS.get(name);
  if (open === undefined)
    throw new UsageError(`--environment: cannot play ${JSON.stringify(name)}; expected ${SIMULATOR_NAMES}`);
  return open;
}
