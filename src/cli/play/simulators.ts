import { openAlfworld } from "./alfworld.ts";
import { openScienceWorld } from "./scienceworld.ts";
import type { OpenSimulator } from "./simulator.ts";
import { openWebShop } from "./webshop.ts";

/** The environments that can be played, by name. */
export const SIMULATORS: ReadonlyMap<string, OpenSimulator> = new Map([
  ["alfworld", openAlfworld],
  ["webshop", openWebShop],
  ["scienceworld", openScienceWorld],
]);
