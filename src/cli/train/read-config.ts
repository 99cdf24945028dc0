import { checkOf, InputError } from "../../core/errors.ts";
import { checkTrainConfig } from "../../core/loop/check-train-config.ts";
import { AMBIGUOUS_TEACHER, configuredTeacher, STUDENT_TEACHER } from "../../core/loop/configured-method.ts";
import { isServed, type TrainConfig, trainConfigSchema } from "../../core/loop/train-config.ts";
import { METHOD_IDS, methodSchema } from "../../core/method/index.ts";
import { isOneOf } from "../../core/one-of.ts";
import { openFolder } from "../../engine/native/node-folder.ts";
import { isThere } from "../../node/file-error.ts";
import { absoluteFrom, absoluteModel, readConfigFile } from "../config-file.ts";
import { resolvedEnvironment, withPlace } from "../live/read-play-config.ts";
import { checkTokenizers } from "./run-tokenizer.ts";

const FILES = ["library", "episodes"] as const;
const FOLDERS = ["parent", "tokenizer"] as const;
/** They may be named as on the hub. */
const MODELS = ["teacher", "student", "calibrate_with"] as const;

/**
 * A config's method, with what its file holds in place of the path.
 *
 * @param file the config's, which the path is taken from
 * @throws InputError that names the method's file and the key
 */
export async function readMethod(
  method: TrainConfig["method"],
  file: string,
): Promise<TrainConfig["method"]> {
  if (typeof method !== "string" || isOneOf(METHOD_IDS, method)) return method;
  return readConfigFile(methodSchema, absoluteFrom(file)(method));
}

/**
 * Reads a training config, with the file of its method. Its paths are taken from the folder of the file.
 *
 * @throws InputError that names file and key
 */
export async function readTrainConfig(file: string): Promise<TrainConfig> {
  const config = await readConfigFile(trainConfigSchema, file);
  const absolute = absoluteFrom(file);
  config.method = await readMethod(config.method, file);
  checkOf(file, () => checkTrainConfig(config));
  const allAbsolute = (named: string | string[]) =>
    typeof named === "string" ? absolute(named) : named.map(absolute);
  for (const key of FILES) {
    const named = config[key];
    if (named !== undefined) config[key] = allAbsolute(named);
  }
  const { environment, evaluate, watch } = config;
  if (watch?.episodes !== undefined) config.watch = { ...watch, episodes: allAbsolute(watch.episodes) };
  if (evaluate !== undefined) config.evaluate = await withPlace(evaluate, file, "evaluate.", environment);
  if (environment !== undefined) config.environment = await resolvedEnvironment(environment, file);
  for (const key of FOLDERS) {
    const path = config[key];
    if (path !== undefined) config[key] = absolute(path);
  }
  for (const key of MODELS) {
    const named = config[key];
    if (named === undefined) continue;
    if (key === "teacher" && named === STUDENT_TEACHER && isThere(absolute(named))) {
      throw new InputError(AMBIGUOUS_TEACHER, { file, key });
    }
    if (key === "teacher" && (isServed(named) || named === STUDENT_TEACHER)) continue;
    // Of a student that a server trains, only the tokenizer has to be here.
    const check = key === "student" && config.tinker !== undefined ? openFolder : undefined;
    config[key] = await absoluteModel(file, key, named, check);
  }
  await checkTokenizers({ ...config, teacher: configuredTeacher(config) }, file, {
    hasWeights: config.tinker === undefined,
  });
  return config;
}
