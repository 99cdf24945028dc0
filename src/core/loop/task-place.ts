import { checkMade, type MadeConfig } from "../environment/made-config.ts";
import { InputError } from "../errors.ts";
import type { EnvironmentConfig } from "./live-config.ts";

/** Where an environment's tasks come from. */
export type TaskPlace =
  | { games: readonly string[] }
  | { made: MadeConfig }
  | { simulator: string }
  | ServerPlace;

/** A running WebShop server. */
export interface ServerPlace {
  server: string;
  settings: "released" | "any";
  goals?: { first: number; count: number };
}

const PLACES = {
  alfworld: ["games", "made"],
  scienceworld: ["simulator"],
  webshop: ["games", "made", "server"],
} as const;

/**
 * What a config opens its environment from: the one key that is there.
 *
 * @throws InputError when it is missing, another environment's, or there are two, and for games that cannot be made
 */
export function taskPlace(config: EnvironmentConfig): TaskPlace {
  const {
    name,
    games,
    made,
    simulator,
    server,
    server_settings: settings = "released",
    goals,
    tasks,
  } = config;
  const given = [
    ...(games === undefined ? [] : [{ key: "games", place: { games: [games].flat() } } as const]),
    ...(made === undefined ? [] : [{ key: "made", place: { made } } as const]),
    ...(simulator === undefined ? [] : [{ key: "simulator", place: { simulator } } as const]),
    ...(server === undefined
      ? []
      : [{ key: "server", place: { server, settings, ...(goals === undefined ? {} : { goals }) } } as const]),
  ];
  const known = PLACES[name].map((key) => `environment.${key}`);
  const foreign = given.find(({ key }) => !known.includes(`environment.${key}`));
  if (foreign !== undefined) {
    throw new InputError(`does not apply to ${name}; expected ${known.join(" or ")}`, {
      key: `environment.${foreign.key}`,
    });
  }
  const [first, second] = given;
  if (second !== undefined) {
    throw new InputError(`expected either it or environment.${first!.key}`, {
      key: `environment.${second.key}`,
    });
  }
  if (first === undefined) {
    const [main, ...others] = known;
    const or = others.map((key) => `, or from ${key}`).join("");
    throw new InputError(`missing; ${name} is opened from it${or}`, { key: main! });
  }
  if (made !== undefined && name !== "scienceworld") checkMade(name, made);
  for (const key of ["server_settings", "goals"] as const)
    if (first.key !== "server" && config[key] !== undefined)
      throw new InputError("only applies with environment.server", { key: `environment.${key}` });
  if (goals !== undefined && tasks !== undefined)
    throw new InputError("expected either it or environment.tasks", { key: "environment.goals" });
  return first.place;
}
