import type { z } from "zod";
import type { EnvironmentConfig, PlayConfig } from "../../core/loop/index.ts";
import { absoluteFrom, absoluteModel, readConfigFile } from "../config-file.ts";

/**
 * Reads the config of a collection or an evaluation. Its paths are taken from the folder of the file.
 *
 * @throws InputError that names file and key
 */
export async function readPlayConfig<C extends PlayConfig>(schema: z.ZodType<C>, file: string): Promise<C> {
  const config = await readConfigFile(schema, file);
  return {
    ...config,
    environment: withAbsolutePaths(config.environment, file),
    ...(config.model === undefined ? {} : { model: absoluteModel(file, "model")(config.model) }),
    ...(config.tokenizer === undefined ? {} : { tokenizer: absoluteFrom(file)(config.tokenizer) }),
  };
}

/** An environment's paths, taken from the folder of the config file. */
export function withAbsolutePaths(environment: EnvironmentConfig, file: string): EnvironmentConfig {
  const absolute = absoluteFrom(file);
  const { games, simulator, prompt } = environment;
  return {
    ...environment,
    ...(games === undefined
      ? {}
      : { games: typeof games === "string" ? absolute(games) : games.map(absolute) }),
    ...(simulator === undefined ? {} : { simulator: absolute(simulator) }),
    ...(prompt === undefined ? {} : { prompt: absolute(prompt) }),
  };
}

/** The same for what may have an environment of its own. */
export function withPlace<C extends { environment?: EnvironmentConfig | undefined }>(
  config: C,
  file: string,
): C {
  const { environment } = config;
  return environment === undefined
    ? config
    : { ...config, environment: withAbsolutePaths(environment, file) };
}
