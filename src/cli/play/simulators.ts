import { openAlfworld } from "./alfworld.ts";
import type { OpenSimulator } from "./simulator.ts";

/** The environments that can be played, by name. */
export const SIMULATORS: ReadonlyMap<string, OpenSimulator> = new Map([["alfworld", openAlfworld]]);
