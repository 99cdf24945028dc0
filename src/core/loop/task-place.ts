import type { MadeConfig } from "../environment/made-config.ts";
import { InputError } from "../errors.ts";
import type { EnvironmentConfig } from "./live-config.ts";

/** Where an environment's tasks come from. */
export type TaskPlace = { games: readonly string[] } | { made: MadeConfig } | { simulator: string };

const PLACES = {
  alfworld: ["games", "made"],
  scienceworld: ["simulator"],
  webshop: ["games", "made"],
} as const;

/**
 * What a config opens its environment from: the one key that is there.
 *
 * @throws InputError when it is missing, another environment's, or there are two
 */
export function taskPlace({ name, games, made, simulator }: EnvironmentConfig): TaskPlace {
  const given = [
    ...(games === undefined ? [] : [{ key: "games", place: { games: [games].flat() } } as const]),
    ...(made === undefined ? [] : [{ key: "made", place: { made } } as const]),
    ...(simulator === undefined ? [] : [{ key: "simulator", place: { simulator } } as const]),
  ];
  const known = PLACES[name].map((key) => `environment.${key}`);
  const foreign = given.find(({ key }) => !known.includes(`environment.${key}`));
  if (foreign !== undefined) {
    throw new InputError(`${name} has none; expected ${known.join(" or ")}`, {
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
  return first.place;
}
