import { checkOf } from "../../core/errors.ts";
import {
  checkTrainConfig,
  isServed,
  type TrainConfig,
  trainConfigSchema,
} from "../../core/loop/train-config.ts";
import { absoluteFrom, absoluteModel, readConfigFile } from "../config-file.ts";
import { resolvedEnvironment, withPlace } from "../live/read-play-config.ts";

const FILES = ["library", "episodes"] as const;
const FOLDERS = ["parent", "tokenizer"] as const;
/** They may be named as on the hub. */
const MODELS = ["teacher", "student", "calibrate_with"] as const;

/**
 * Reads a training config. Its paths are taken from the folder of the file.
 *
 * @throws InputError that names file and key
 */
export async function readTrainConfig(file: string): Promise<TrainConfig> {
  const config = await readConfigFile(trainConfigSchema, file);
  checkOf(file, () => checkTrainConfig(config));
  const absolute = absoluteFrom(file);
  for (const key of FILES) {
    const named = config[key];
    if (named !== undefined) config[key] = typeof named === "string" ? absolute(named) : named.map(absolute);
  }
  const { environment, evaluate } = config;
  if (evaluate !== undefined) config.evaluate = await withPlace(evaluate, file, environment);
  if (environment !== undefined) config.environment = await resolvedEnvironment(environment, file);
  for (const key of FOLDERS) {
    const path = config[key];
    if (path !== undefined) config[key] = absolute(path);
  }
  for (const key of MODELS) {
    const named = config[key];
    if (named === undefined || (key === "teacher" && isServed(named))) continue;
    config[key] = absoluteModel(file, key)(named);
  }
  return config;
}
