/** A training config as a target reads it: small inputs go with the run, and paths that lie on the target stay paths. */
import { existsSync } from "node:fs";
import { readdir, stat } from "node:fs/promises";
import { basename, isAbsolute, join } from "node:path";
import { InputError } from "../../core/errors.ts";
import type { EnvironmentConfig } from "../../core/loop/live-config.ts";
import { checkTrainConfig, type TrainConfig, trainConfigSchema } from "../../core/loop/train-config.ts";
import { parseHubName } from "../../engine/hub/hub-client.ts";
import { onFile } from "../../node/file-error.ts";
import type { Carried } from "../../worker/launch/runs.ts";
import type { Target } from "../../worker/launch/target.ts";
import { absoluteFrom, checkOf, readConfigFile } from "../config-file.ts";

/** Stands before a path of the target, or the name of one of its models. */
const ON_TARGET = "target:";

/** Bytes that go with a run; more is copied once, by hand, and named by its path on the target. */
const MOST = 2 ** 30;

export interface RemoteConfig {
  config: TrainConfig;
  carried: Carried[];
  /** Bytes of what is carried. */
  bytes: number;
  /** Paths that must be there on the target, with the keys that name them. */
  there: { key: string; path: string }[];
}

/**
 * Reads a config for a target. A path that is here goes with the run, or stays as it is where the target is this machine.
 * `target:PATH`, `target:MODEL`, and an absolute path that is not here are on the target.
 *
 * @throws InputError that names file and key
 */
export async function readRemoteConfig(file: string, target: Target): Promise<RemoteConfig> {
  const config = await readConfigFile(trainConfigSchema, file);
  checkOf(file, () => checkTrainConfig(config));
  const absolute = absoluteFrom(file);
  const carried: Carried[] = [];
  const there: RemoteConfig["there"] = [];
  let bytes = 0;

  const onTarget = (path: string, key: string) => {
    there.push({ key, path });
    return path;
  };

  const place = async (key: string, path: string): Promise<string> => {
    if (path.startsWith(ON_TARGET)) {
      const named = path.slice(ON_TARGET.length);
      if (isAbsolute(named)) return onTarget(named, key);
      const model = Object.hasOwn(target.models, named) ? target.models[named] : undefined;
      if (model !== undefined) return onTarget(model, key);
      throw new InputError(
        `the target has no model ${JSON.stringify(named)}: expected an absolute path or one of its models`,
        { file, key },
      );
    }
    const here = absolute(path);
    if (!existsSync(here)) {
      if (isAbsolute(path) && target.host !== undefined) return onTarget(path, key);
      throw new InputError(`${here} is not here; ${ON_TARGET}/PATH names one of the target`, { file, key });
    }
    if (target.host === undefined) return here;
    const known = carried.find(({ from }) => from === here);
    if (known !== undefined) return known.to;
    bytes += await sizeOf(here);
    if (bytes > MOST)
      throw new InputError(
        `${here} makes what would be sent more than 1 GiB: copy it to the target and write ${ON_TARGET}/PATH`,
        { file, key },
      );
    const to = `in/${carried.length + 1}-${basename(here).replaceAll(/[^\w.-]/g, "_")}`;
    carried.push({ from: here, to });
    return to;
  };

  const each = async (key: string, named: string | readonly string[]): Promise<string | string[]> => {
    if (typeof named === "string") return place(key, named);
    const placed: string[] = [];
    for (const [n, path] of named.entries()) placed.push(await place(`${key}[${n}]`, path));
    return placed;
  };

  const playedIn = async (key: string, environment: EnvironmentConfig): Promise<EnvironmentConfig> => {
    const { games, simulator, prompt, tasks } = environment;
    return {
      ...environment,
      ...(games === undefined ? {} : { games: await each(`${key}.games`, games) }),
      ...(simulator === undefined ? {} : { simulator: await place(`${key}.simulator`, simulator) }),
      ...(prompt === undefined ? {} : { prompt: await place(`${key}.prompt`, prompt) }),
      ...(typeof tasks === "string" ? { tasks: await place(`${key}.tasks`, tasks) } : {}),
    };
  };

  const { library, episodes, parent, tokenizer, environment, evaluate } = config;
  const model = async (key: "teacher" | "student") =>
    checkOf(file, () => parseHubName(config[key])) === null ? place(key, config[key]) : config[key];
  const placed: TrainConfig = {
    ...config,
    ...(library === undefined ? {} : { library: await each("library", library) }),
    ...(episodes === undefined ? {} : { episodes: await each("episodes", episodes) }),
    teacher: await model("teacher"),
    student: await model("student"),
    ...(parent === undefined ? {} : { parent: await place("parent", parent) }),
    ...(tokenizer === undefined ? {} : { tokenizer: await place("tokenizer", tokenizer) }),
    ...(environment === undefined ? {} : { environment: await playedIn("environment", environment) }),
  };
  delete placed.$schema;
  if (evaluate !== undefined) {
    const { environment: own, tasks } = evaluate;
    placed.evaluate = {
      ...evaluate,
      ...(own === undefined ? {} : { environment: await playedIn("evaluate.environment", own) }),
      ...(typeof tasks === "string" ? { tasks: await place("evaluate.tasks", tasks) } : {}),
    };
  }
  return { config: placed, carried, bytes, there };
}

/** Bytes of a file, or of all files below a folder. */
async function sizeOf(path: string): Promise<number> {
  const found = await onFile(path, "read", stat(path));
  if (!found.isDirectory()) return found.size;
  let bytes = 0;
  for (const name of await onFile(path, "read", readdir(path))) bytes += await sizeOf(join(path, name));
  return bytes;
}
