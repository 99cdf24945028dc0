import { existsSync } from "node:fs";
import { join, resolve } from "node:path";
import { type Command, Option } from "commander";
import { checkOf, InputError } from "../../core/errors.ts";
import { parseJsonText } from "../../core/json.ts";
import {
  checkTrainConfig,
  EXPERIMENT_PARTS,
  type ExperimentConfig,
  experimentConfigSchema,
  experimentParts,
  isServed,
  taskPlace,
} from "../../core/loop/index.ts";
import { DEVICE_CHOICES, type DeviceChoice } from "../../engine/native/index.ts";
import { parseObject } from "../../formats/read.ts";
import { makeFolder } from "../../node/whole-file.ts";
import { lockFolder } from "../../worker/lock.ts";
import { absoluteFrom, absoluteModel, readConfigFile } from "../config-file.ts";
import { printJsonLine } from "../engine/json-lines.ts";
import { progress, readText, writeOut } from "../io.ts";
import { collect } from "../live/collect.ts";
import { evaluate } from "../live/evaluate.ts";
import { playing } from "../live/playing.ts";
import { resolvedEnvironment, withPlace } from "../live/read-play-config.ts";
import { trainCommand } from "./train.ts";

interface Options {
  config: string;
  out: string;
  device?: DeviceChoice;
}

export function register(program: Command): void {
  program
    .command("experiment")
    .description(
      "Collect a library with a teacher, train a student on it, and evaluate the student before and after on the same " +
        "tasks and seeds. The same command goes on after a kill. docs/live-environments.md has the keys of the config, " +
        "docs/experiment-config.schema.json its schema.",
    )
    .requiredOption("--config <file>", "JSON config; its paths are relative to the file")
    .requiredOption(
      "--out <folder>",
      "where each part has its config and its folder, and results.json goes at the end",
    )
    .addOption(new Option("--device <name>", "in place of the config's device").choices(DEVICE_CHOICES))
    .action(run);
}

async function run({ config: file, out, device }: Options): Promise<void> {
  const given = await readExperiment(file);
  const inside = (name: string) => resolve(out, name);
  const parts = experimentParts({ ...given, device: device ?? given.device }, inside);
  checkOf(file, () => checkTrainConfig(parts.train), "train.");
  for (const [part, environment] of [
    ["", given.environment],
    ["evaluate.", given.evaluate.environment],
    ["train.evaluate.", given.train.evaluate?.environment],
  ] as const)
    if (environment !== undefined) checkOf(file, () => taskPlace(environment), part);
  await makeFolder(out);
  const unlock = lockFolder(
    inside("lock.sqlite"),
    new InputError("another experiment works in this folder: wait for it or choose another --out", {
      file: out,
    }),
  );
  try {
    for (const [name, config] of Object.entries(parts)) await claim(inside(`${name}.json`), config);
    await runParts(parts, inside);
  } finally {
    unlock();
  }
}

/**
 * Writes the config of a part, with which its own command can run it again.
 *
 * @throws InputError when the folder's part has another one
 */
async function claim(file: string, config: Parts[keyof Parts]): Promise<void> {
  // The device may be another one on the next day.
  const decisive = (value: object): string => JSON.stringify({ ...value, device: null });
  if (existsSync(file)) {
    const kept = parseObject(await readText(file), { file });
    if (decisive(kept) !== decisive(config))
      throw new InputError(
        "this part began with another config; use another output folder or the same config",
        { file },
      );
  }
  await writeJson(file, config);
}

type Parts = ReturnType<typeof experimentParts>;

async function runParts(parts: Parts, inside: (name: string) => string): Promise<void> {
  const folders = {
    library: inside(EXPERIMENT_PARTS.collect),
    before: inside(EXPERIMENT_PARTS.before),
    train: inside(EXPERIMENT_PARTS.train),
    after: inside(EXPERIMENT_PARTS.after),
  };
  const steps: [what: string, work: () => Promise<void>][] = [
    [
      "the teacher collects the library",
      () =>
        playing("executions", (watching) =>
          collect({ config: parts.collect, out: folders.library, ...watching }),
        ),
    ],
    [
      "the student before training",
      () =>
        playing("episodes", async (watching) => {
          await evaluate({ config: parts.before, out: folders.before, ...watching });
        }),
    ],
    ["training", () => trainCommand({ config: inside("train.json"), out: folders.train, progress: "text" })],
    [
      "the student after training",
      () =>
        playing("episodes", async (watching) => {
          const { before, after } = folders;
          const measured = await evaluate({ config: parts.after, out: after, against: before, ...watching });
          const results = {
            before: await readResults(join(before, "results.json")),
            after: measured.results,
            comparison: measured.comparison,
          };
          await writeJson(inside("results.json"), results);
          printJsonLine(results);
        }),
    ],
  ];
  for (const [n, [what, work]] of steps.entries()) {
    progress(`gcopd: part ${n + 1} of ${steps.length}: ${what}`);
    await work();
    // It was interrupted: the parts that follow need what it did not finish.
    if (process.exitCode) return;
  }
}

/** @throws InputError that names file and key */
async function readExperiment(file: string): Promise<ExperimentConfig> {
  const config = await readConfigFile(experimentConfigSchema, file);
  const absolute = absoluteFrom(file);
  const { environment, teacher, student, tokenizer, train, evaluate: measured } = config;
  return {
    ...config,
    environment: await resolvedEnvironment(environment, file),
    teacher: isServed(teacher) ? teacher : absoluteModel(file, "teacher")(teacher),
    student: absoluteModel(file, "student")(student),
    ...(tokenizer === undefined ? {} : { tokenizer: absolute(tokenizer) }),
    train: {
      ...train,
      ...(train.calibrate_with === undefined
        ? {}
        : { calibrate_with: absoluteModel(file, "train.calibrate_with")(train.calibrate_with) }),
      ...(train.evaluate === undefined
        ? {}
        : { evaluate: await withPlace(train.evaluate, file, environment) }),
    },
    evaluate: await withPlace(measured, file),
  };
}

const readResults = async (file: string): Promise<unknown> => parseJsonText(await readText(file), { file });

const writeJson = (file: string, value: unknown): Promise<void> =>
  writeOut(file, [`${JSON.stringify(value, null, 2)}\n`]);
