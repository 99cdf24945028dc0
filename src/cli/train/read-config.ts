import { dirname, resolve } from "node:path";
import { InputError } from "../../core/errors.ts";
import { checkTrainConfig, type TrainConfig, trainConfigSchema } from "../../core/loop/train-config.ts";
import { describeIssue } from "../../core/record/describe-issue.ts";
import { parseHubName } from "../../engine/hub/hub-client.ts";
import { readText } from "../io.ts";
import { withAbsolutePaths } from "../live/read-play-config.ts";

const FILES = ["library", "episodes"] as const;
const FOLDERS = ["teacher", "student", "parent", "tokenizer"] as const;

/**
 * Reads a training config. Its paths are taken from the folder of the file.
 *
 * @throws InputError that names file and key
 */
export async function readTrainConfig(file: string): Promise<TrainConfig> {
  let value: unknown;
  try {
    value = JSON.parse(await readText(file));
  } catch (error) {
    if (error instanceof InputError) throw error;
    throw new InputError(`not JSON: ${error instanceof Error ? error.message : String(error)}`, { file });
  }
  const checked = trainConfigSchema.safeParse(value);
  if (!checked.success) {
    const { key, message } = describeIssue(checked.error.issues[0]!, value);
    throw new InputError(message, key === "" ? { file } : { file, key });
  }
  const config = checked.data;
  checkWhole(config, file);
  const absolute = (path: string): string => resolve(dirname(file), path);
  for (const key of FILES) {
    const named = config[key];
    if (named !== undefined) config[key] = typeof named === "string" ? absolute(named) : named.map(absolute);
  }
  if (config.environment !== undefined) config.environment = withAbsolutePaths(config.environment, file);
  for (const key of FOLDERS) {
    const path = config[key];
    if (path !== undefined && !isHubModel(key, path, file)) config[key] = absolute(path);
  }
  return config;
}

/** Models may be named as on the hub: such a name is no path. */
function isHubModel(key: (typeof FOLDERS)[number], path: string, file: string): boolean {
  if (key === "tokenizer" || key === "parent") return false;
  try {
    return parseHubName(path) !== null;
  } catch (error) {
    if (!(error instanceof InputError)) throw error;
    throw new InputError(error.message, { file, key });
  }
}

/** The checks of the whole config, their faults told with the file's name. */
function checkWhole(config: TrainConfig, file: string): void {
  try {
    checkTrainConfig(config);
  } catch (error) {
    if (!(error instanceof InputError)) throw error;
    throw new InputError(error.reason, { ...error.where, file });
  }
}
