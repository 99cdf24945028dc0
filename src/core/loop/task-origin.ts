import { checkMade, isMade, type MadeConfig } from "../environment/made-config.ts";
import { InputError } from "../errors.ts";
import { type EnvironmentConfig, type EnvironmentName, TASKS_FROM } from "./live-config.ts";

interface TaskOrigins {
  games: { games: readonly string[] };
  made: { made: MadeConfig };
  simulator: { simulator: string };
  server: ServerAddress;
}

/** Where an environment's tasks come from. */
export type TaskOrigin<Name extends EnvironmentName = EnvironmentName> = {
  [Each in Name]: TaskOrigins[(typeof TASKS_FROM)[Each][number]];
}[Name];

/** A running WebShop server. */
export interface ServerAddress {
  server: string;
  settings: "released" | "any";
  goals?: { first: number; count: number };
}

/**
 * What a config opens its environment from: the one key that is there.
 *
 * @throws InputError when it is missing, another environment's, or there are two, and for games that cannot be made
 */
export function taskOrigin<Name extends EnvironmentName>(
  config: EnvironmentConfig & { name: Name },
): TaskOrigin<Name> {
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
  const known = TASKS_FROM[name].map((key) => `environment.${key}`);
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
  if (made !== undefined && isMade(name)) checkMade(name, made);
  for (const key of ["server_settings", "goals"] as const)
    if (first.key !== "server" && config[key] !== undefined)
      throw new InputError("only applies with environment.server", { key: `environment.${key}` });
  if (goals !== undefined && tasks !== undefined)
    throw new InputError("expected either it or environment.tasks", { key: "environment.goals" });
  // Its key is one of `known`.
  return first.place as TaskOrigin<Name>;
}
