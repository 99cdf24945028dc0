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
} from "../../core/loop/index.ts";
import { METHOD_IDS, methodSchema } from "../../core/method/index.ts";
import { isOneOf } from "../../core/one-of.ts";
import { parseObject } from "../../formats/read.ts";
import { isThere } from "../../node/file-error.ts";
import { absoluteFrom, absoluteModel, readConfigFile } from "../config-file.ts";
import { readText } from "../io.ts";
import { resolvedEnvironment, withPlace } from "../live/read-play-config.ts";
import { readMethod } from "../train/read-config.ts";
import { checkTokenizers } from "../train/run-tokenizer.ts";

/** An experiment with its paths taken from the folder of its file, and its method files read. */
export type ReadExperiment = Omit<ExperimentConfig, "methods"> & { methods?: MethodEntry[] };

/** @throws InputError that names file and key */
export async function readExperiment(file: string): Promise<ReadExperiment> {
  const config = await readConfigFile(experimentConfigSchema, file);
  checkOf(file, () => checkExperiment(config));
  const absolute = absoluteFrom(file);
  const { environment, teacher, student, tokenizer, train, evaluate, evaluations, library, methods } = config;
  const sources = library === undefined ? undefined : namedFiles(library).map(absolute);
  // Each training would end at it, after the student before training was measured.
  const missing = sources?.find((path) => !isThere(path));
  if (missing !== undefined)
    throw new InputError(`expected sources in ${missing}: no such file`, { file, key: "library" });
  const placed: [string, ExperimentConfig["evaluate"]][] = [];
  for (const [name, keys] of Object.entries(evaluations ?? {}))
    placed.push([name, await withPlace(keys, file, `evaluations.${name}.`)]);
  const entries = methods === undefined ? undefined : await readMethods(methods, file);
  const read = {
    ...config,
    environment: await resolvedEnvironment(environment, file),
    teacher: isServed(teacher) ? teacher : await absoluteModel(file, "teacher", teacher),
    student: await absoluteModel(file, "student", student),
    ...(tokenizer === undefined ? {} : { tokenizer: absolute(tokenizer) }),
    ...(sources === undefined ? {} : { library: sources }),
    ...(evaluations === undefined ? {} : { evaluations: Object.fromEntries(placed) }),
    train: {
      ...train,
      method: await readMethod(train.method, file),
      ...(train.calibrate_with === undefined
        ? {}
        : { calibrate_with: await absoluteModel(file, "train.calibrate_with", train.calibrate_with) }),
      ...(train.evaluate === undefined
        ? {}
        : { evaluate: await withPlace(train.evaluate, file, "train.evaluate.", environment) }),
    },
    evaluate: await withPlace(evaluate, file, "evaluate."),
    methods: entries,
  };
  // The teacher of a collection writes its own prompts.
  if (isServed(teacher) && library === undefined && tokenizer === undefined)
    throw new InputError("missing; expected a folder with the tokenizer of the model that the server runs", {
      file,
      key: "tokenizer",
    });
  await checkTokenizers({ ...read, calibrate_with: read.train.calibrate_with }, file, { part: "train." });
  return read;
}

async function readMethods(
  methods: NonNullable<ExperimentConfig["methods"]>,
  file: string,
): Promise<MethodEntry[]> {
  const entries: MethodEntry[] = [];
  for (const method of methods) {
    if (typeof method !== "string") entries.push(await withMethod(method, file));
    else if (isOneOf(METHOD_IDS, method)) entries.push({ id: method });
    else entries.push(await readEntry(absoluteFrom(file)(method)));
  }
  return entries;
}

/** A method of an experiment as a file of its own: a schedule with a `name`, or the keys of an entry. */
async function readEntry(file: string): Promise<MethodEntry> {
  const { name } = parseObject(await readText(file), { file });
  if (name !== undefined) {
    const method = await readConfigFile(methodSchema, file);
    return entryOf({ id: basename(file, ".json"), label: method.name, method }, file);
  }
  const { id = basename(file, ".json"), ...keys } = await readConfigFile(
    methodEntrySchema.partial({ id: true }),
    file,
  );
  return withMethod(entryOf({ id, ...keys }, file), file);
}

/** @throws InputError where an entry is called after a file whose name does not do */
function entryOf(entry: MethodEntry, file: string): MethodEntry {
  const checked = methodEntrySchema.safeParse(entry);
  if (checked.success) return checked.data;
  throw new InputError("missing: the file's name is no name of a method", { file, key: "id" });
}

/** An entry whose method was read from the file that it names. */
async function withMethod(entry: MethodEntry, file: string): Promise<MethodEntry> {
  const { method } = entry;
  return method === undefined ? entry : { ...entry, method: await readMethod(method, file) };
}
