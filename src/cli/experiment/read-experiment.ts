import { basename } from "node:path";
import { checkOf, InputError } from "../../core/errors.ts";
import {
  checkExperiment,
  type ExperimentConfig,
  experimentConfigSchema,
  isServed,
  type MethodEntry,
  methodEntrySchema,
  namedFiles,
  taskPlace,
} from "../../core/loop/index.ts";
import { METHOD_IDS } from "../../core/method/method.ts";
import { isOneOf } from "../../core/one-of.ts";
import { absoluteFrom, absoluteModel, readConfigFile } from "../config-file.ts";
import { resolvedEnvironment, withPlace } from "../live/read-play-config.ts";

/** An experiment with its paths taken from the folder of its file, and its method files read. */
export type ReadExperiment = Omit<ExperimentConfig, "methods"> & { methods?: MethodEntry[] };

/** @throws InputError that names file and key */
export async function readExperiment(file: string): Promise<ReadExperiment> {
  const config = await readConfigFile(experimentConfigSchema, file);
  checkOf(file, () => checkExperiment(config));
  const absolute = absoluteFrom(file);
  const { environment, teacher, student, tokenizer, train, evaluate, evaluations, library, methods } = config;
  for (const [part, place] of [
    ["", environment],
    ["evaluate.", evaluate.environment],
    ["train.evaluate.", train.evaluate?.environment],
    ...Object.entries(evaluations ?? {}).map(
      ([name, keys]) => [`evaluations.${name}.`, keys.environment] as const,
    ),
  ] as const)
    if (place !== undefined) checkOf(file, () => taskPlace(place), part);
  const placed: [string, ExperimentConfig["evaluate"]][] = [];
  for (const [name, keys] of Object.entries(evaluations ?? {}))
    placed.push([name, await withPlace(keys, file)]);
  const entries = methods === undefined ? undefined : await readMethods(methods, file);
  return {
    ...config,
    environment: await resolvedEnvironment(environment, file),
    teacher: isServed(teacher) ? teacher : absoluteModel(file, "teacher")(teacher),
    student: absoluteModel(file, "student")(student),
    ...(tokenizer === undefined ? {} : { tokenizer: absolute(tokenizer) }),
    ...(library === undefined ? {} : { library: namedFiles(library).map(absolute) }),
    ...(evaluations === undefined ? {} : { evaluations: Object.fromEntries(placed) }),
    train: {
      ...train,
      ...(train.calibrate_with === undefined
        ? {}
        : { calibrate_with: absoluteModel(file, "train.calibrate_with")(train.calibrate_with) }),
      ...(train.evaluate === undefined
        ? {}
        : { evaluate: await withPlace(train.evaluate, file, environment) }),
    },
    evaluate: await withPlace(evaluate, file),
    methods: entries,
  };
}

async function readMethods(
  methods: NonNullable<ExperimentConfig["methods"]>,
  file: string,
): Promise<MethodEntry[]> {
  const entries: MethodEntry[] = [];
  for (const method of methods) {
    if (typeof method !== "string") entries.push(method);
    else if (isOneOf(METHOD_IDS, method)) entries.push({ id: method });
    else entries.push(await readMethodFile(absoluteFrom(file)(method)));
  }
  return entries;
}

/** A method's keys as a file of their own; its name is the file's where it says none. */
async function readMethodFile(file: string): Promise<MethodEntry> {
  const { id = basename(file, ".json"), ...keys } = await readConfigFile(
    methodEntrySchema.partial({ id: true }),
    file,
  );
  const entry = methodEntrySchema.safeParse({ id, ...keys });
  if (entry.success) return entry.data;
  throw new InputError("missing: the file's name is no name of a method", { file, key: "id" });
}
