import { InputError } from "../../core/errors.ts";
import type { EnvironmentConfig } from "../../core/loop/index.ts";

/**
 * The place that an environment is opened from: `games` or `simulator`, the one that it knows.
 *
 * @throws InputError when it is missing, or the other one is given
 */
export function onlyKeys<K extends "games" | "simulator">(
  config: EnvironmentConfig,
  wanted: K,
): Record<K, NonNullable<EnvironmentConfig[K]>> {
  const other = wanted === "games" ? "simulator" : "games";
  if (config[other] !== undefined) {
    throw new InputError(`${config.name} has none; expected environment.${wanted} alone`, {
      key: `environment.${other}`,
    });
  }
  const value = config[wanted];
  if (value === undefined) {
    throw new InputError(`missing; ${config.name} is opened from it`, { key: `environment.${wanted}` });
  }
  return { [wanted]: value } as Record<K, NonNullable<EnvironmentConfig[K]>>;
}
