import { dirname, resolve } from "node:path";
import type { z } from "zod";
import { InputError } from "../../core/errors.ts";
import { parseJsonText } from "../../core/json.ts";
import type { EnvironmentConfig, PlayConfig } from "../../core/loop/index.ts";
import { describeIssue } from "../../core/record/describe-issue.ts";
import { parseHubName } from "../../engine/hub/hub-client.ts";
import { readText } from "../io.ts";

/**
 * Reads the config of a collection or an evaluation. Its paths are taken from the folder of the file.
 *
 * @throws InputError that names file and key
 */
export async function readPlayConfig<C extends PlayConfig>(schema: z.ZodType<C>, file: string): Promise<C> {
  const value = parseJsonText(await readText(file), { file });
  const checked = schema.safeParse(value);
  if (!checked.success) {
    const { key, message } = describeIssue(checked.error.issues[0]!, value);
    throw new InputError(message, key === "" ? { file } : { file, key });
  }
  const config = checked.data;
  const absolute = absoluteFrom(file);
  return {
    ...config,
    environment: withAbsolutePaths(config.environment, file),
    model: parseHubName(config.model) === null ? absolute(config.model) : config.model,
    ...(config.tokenizer === undefined ? {} : { tokenizer: absolute(config.tokenizer) }),
  };
}

const absoluteFrom = (file: string) => (path: string) => resolve(dirname(file), path);

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
