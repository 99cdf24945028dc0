/** A training config as a target reads it: small inputs go with the run, and paths that lie on the target stay paths. */
import { readdir, stat } from "node:fs/promises";
import { basename, isAbsolute, join } from "node:path";
import { checkOf, InputError } from "../../core/errors.ts";
import { budgetSeconds } from "../../core/loop/budget.ts";
import { STUDENT_TEACHER } from "../../core/loop/configured-method.ts";
import type { EnvironmentConfig } from "../../core/loop/live-config.ts";
import { isServed, type TrainConfig } from "../../core/loop/train-config.ts";
import { parseHubName } from "../../engine/hub/hub-client.ts";
import { isThere, onFile } from "../../node/file-error.ts";
import type { Target } from "../../protocol/target.ts";
import { missingThere } from "./check.ts";
import type { Carried } from "./launcher.ts";
import { ON_TARGET } from "./target.ts";

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

/** Where a config comes from. */
export interface ConfigOrigin {
  /** Its file, for messages. */
  file: string;
  /** A path of it, from the root of this machine. */
  absolute: (path: string) => string;
  /** Whether a file goes with the run although the target is this machine: it will not stay where it is. */
  passing?: (path: string) => boolean;
}

/**
 * A config as a target reads it. A path that is here goes with the run, or stays as it is where the target is this
 * machine. `target:PATH`, `target:MODEL`, and an absolute path that is not here are on the target.
 *
 * @throws InputError that names file and key
 */
export async function remoteConfig(
  config: TrainConfig,
  target: Pick<Target, "host" | "models" | "gpus" | "price_per_gpu_hour">,
  { file, absolute, passing = () => false }: ConfigOrigin,
): Promise<RemoteConfig> {
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
    if (!isThere(here)) {
      if (isAbsolute(path) && target.host !== undefined) return onTarget(path, key);
      throw new InputError(
        `${here} is not on this machine; write ${ON_TARGET}/PATH for a path on the target`,
        { file, key },
      );
    }
    if (target.host === undefined && !passing(here)) return here;
    const known = carried.find(({ from }) => from === here);
    if (known !== undefined) return known.to;
    bytes += await sizeOf(here);
    if (bytes > MOST)
      throw new InputError(
        `${here} would make the upload larger than 1 GiB: copy it to the target and write ${ON_TARGET}/PATH`,
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

  const {
    library,
    episodes,
    calibrate_with: calibrator,
    parent,
    tokenizer,
    environment,
    evaluate,
    watch,
  } = config;
  // The address of a server is one on the target.
  const model = async (key: string, named: string) =>
    (key === "teacher" && (isServed(named) || named === STUDENT_TEACHER)) ||
    checkOf(file, () => parseHubName(named)) !== null
      ? named
      : place(key, named);
  const placed: TrainConfig = {
    ...config,
    ...(library === undefined ? {} : { library: await each("library", library) }),
    ...(episodes === undefined ? {} : { episodes: await each("episodes", episodes) }),
    ...(config.teacher === undefined ? {} : { teacher: await model("teacher", config.teacher) }),
    ...(calibrator === undefined ? {} : { calibrate_with: await model("calibrate_with", calibrator) }),
    student: await model("student", config.student),
    ...(parent === undefined ? {} : { parent: await place("parent", parent) }),
    ...(tokenizer === undefined ? {} : { tokenizer: await place("tokenizer", tokenizer) }),
    ...(environment === undefined ? {} : { environment: await playedIn("environment", environment) }),
  };
  if (watch?.episodes !== undefined)
    placed.watch = { ...watch, episodes: await each("watch.episodes", watch.episodes) };
  delete placed.$schema;
  const { gpus, price_per_gpu_hour: price } = target;
  const own = { ...(gpus === undefined ? {} : { gpus }), ...(price ? { price_per_gpu_hour: price } : {}) };
  // Also where it has no amount yet: a resume may bring one.
  const budget = { ...own, ...config.budget };
  if (Object.keys(budget).length > 0) {
    checkOf(file, () => budgetSeconds(budget));
    placed.budget = budget;
  }
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

/** @throws InputError for the first path that is neither here nor on the target; `Unreachable` */
export async function checkThere(
  target: { name: string; is: Target },
  there: RemoteConfig["there"],
  file: string,
): Promise<void> {
  if (there.length === 0) return;
  const missing = await missingThere(
    target.is,
    there.map(({ path }) => path),
  );
  const gone = there.find(({ path }) => missing.includes(path));
  if (gone !== undefined)
    throw new InputError(`${gone.path} is neither here nor on target ${target.name}`, {
      file,
      key: gone.key,
    });
}

/** Bytes of a file, or of all files below a folder. */
async function sizeOf(path: string): Promise<number> {
  const found = await onFile(path, "read", stat(path));
  if (!found.isDirectory()) return found.size;
  let bytes = 0;
  for (const name of await onFile(path, "read", readdir(path))) bytes += await sizeOf(join(path, name));
  return bytes;
}
