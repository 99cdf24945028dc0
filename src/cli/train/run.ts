/** One training job of the command line: files, devices and checkpoints around the loop of `src/core/loop`. */
import { readdir } from "node:fs/promises";
import { join, resolve } from "node:path";
import { checkOf, InputError } from "../../core/errors.ts";
import {
  budgetSeconds,
  configuredData,
  configuredEvaluation,
  configuredSettings,
  isFreshRun,
  libraryContexts,
  liveData,
  namedFiles,
  type TrainConfig,
  type TrainEvent,
  type TrainResult,
  train,
} from "../../core/loop/index.ts";
import { sha256Hex } from "../../core/seeded.ts";
import { openModelFolder, parseHubName } from "../../engine/hub/node.ts";
import { onFile, unlessPassing } from "../../node/file-error.ts";
import { lockFolder } from "../../node/lock.ts";
import { makeFolder, removeMadeFolder, removeTemporaries } from "../../node/whole-file.ts";
import { saveCompanions, saveModel } from "../engine/save-model.ts";
import { writeOut } from "../io.ts";
import { writeBatch } from "./batch-file.ts";
import { DiskCheckpoints, keptFingerprint } from "./checkpoints.ts";
import { withEngines } from "./engines.ts";
import { EventLog, timeTaken } from "./event-log.ts";
import { filesDigest } from "./fingerprint.ts";
import { readInputs, type TrainingInputs } from "./inputs.ts";
import { withModels } from "./models.ts";
import { tellPlan } from "./plan.ts";
import type { RunEnd, TrainingRun } from "./training-run.ts";

/**
 * Runs or continues a training job.
 *
 * @returns how it ended: `done`, or `stopped` before its end, on request or by its `budget`
 * @throws InputError for bad input, for an output folder that is in use or holds something else, and for checkpoints of
 *   another run
 */
export async function runTraining(given: TrainingRun): Promise<RunEnd> {
  const { budget } = given.config;
  const began = performance.now();
  if (budget !== undefined) checkOf(given.configFile, () => budgetSeconds(budget));
  if (given.planOnly === undefined) await checkFolder(given);
  const { clock = () => (performance.now() - began) / 1000 } = given;
  const run = { ...given, clock, config: await withEndOfTurn(given, await withLocalModels(given)) };
  const inputs = await readInputs(run);
  try {
    if (given.config.end_of_turn === undefined) tellParentsEndOfTurn(run, inputs);
    if (run.planOnly !== undefined) {
      await tellPlan(run, inputs, run.planOnly);
      return "done";
    }
    return await trainInFolder(run, inputs);
  } finally {
    await inputs.close();
  }
}

/**
 * Refuses an output folder that holds something else: a run would write over files of the same names.
 *
 * @throws InputError that names the folder and what is in it
 */
async function checkFolder({ out, configFile }: TrainingRun): Promise<void> {
  // One that can never be read is reported when the run makes it.
  const names = (await onFile(out, "read", readdir(out).catch(unlessPassing))) ?? [];
  const has = (name: string) => names.includes(name);
  // A run that was killed before its first event has only the last two.
  if (has("events.jsonl") || has("checkpoints") || (has("config.json") && has("lock.sqlite"))) return;
  const foreign = names
    .filter((name) => !/^(\.|lock\.sqlite)/.test(name) && resolve(out, name) !== resolve(configFile))
    .sort();
  if (foreign.length === 0) return;
  const more = foreign.length > 3 ? ` and ${foreign.length - 3} more` : "";
  throw new InputError(
    `holds ${foreign.slice(0, 3).join(", ")}${more}, but no training run: expected a new or empty folder, or the folder of a run to continue`,
    { file: out, key: "--out" },
  );
}

/** The config with folders in place of models of the hub, which are downloaded where they are not there yet. */
async function withLocalModels({
  config,
  onNote,
  onDownload = () => undefined,
  signal,
}: TrainingRun): Promise<TrainConfig> {
  const local = async (path: string): Promise<string> =>
    parseHubName(path) === null
      ? path
      : (await openModelFolder(path, { signal, onProgress: onDownload, onNote })).name;
  const { teacher, student, calibrate_with: own } = config;
  return {
    ...config,
    ...(teacher === undefined ? {} : { teacher: await local(teacher) }),
    student: await local(student),
    ...(own === undefined ? {} : { calibrate_with: await local(own) }),
  };
}

/**
 * The config with `end_of_turn` said. A folder with checkpoints of a version that did not know the key goes on as it
 * began: without the token.
 */
async function withEndOfTurn({ out, onNote }: TrainingRun, config: TrainConfig): Promise<TrainConfig> {
  if (config.end_of_turn !== undefined) return config;
  const kept = out === "" ? null : await keptFingerprint(join(out, "checkpoints"));
  const goesOnWithout = kept !== null && !isFreshRun(config) && !("end_of_turn" in kept);
  if (goesOnWithout)
    onNote("no end-of-turn token after responses recorded as text: the run in this folder began without it");
  return { ...config, end_of_turn: !goesOnWithout };
}

/** Says that the run reads recorded text with an end-of-turn token that its parent read it without. */
function tellParentsEndOfTurn({ config, onNote }: TrainingRun, { parent }: TrainingInputs): void {
  if (parent?.endOfTurn !== false || config.end_of_turn !== true || isFreshRun(config)) return;
  onNote(
    `end-of-turn token after responses recorded as text: the parent ${parent.name} was trained without it; end_of_turn: false leaves it out`,
  );
}

/** The run itself, once everything that it reads is open. */
async function trainInFolder(
  run: TrainingRun & { clock: () => number },
  inputs: TrainingInputs,
): Promise<RunEnd> {
  const { method, parent, episodes, games, evaluation, tokenizer, sources } = inputs;
  const { config, out } = run;
  const { evaluate } = config;
  // What this run makes is deleted again when it fails before its first event.
  const made = await makeFolder(out);
  let started = false;
  const unlock = lockFolder(
    join(out, "lock.sqlite"),
    new InputError("another run works in this folder: wait for it or choose another --out", { file: out }),
  );
  const events = join(out, "events.jsonl");
  const log = new EventLog(events, join(out, "metrics.jsonl"));
  // Told once the student is written and the folder is free: whoever hears it may start the next command.
  const ends: TrainEvent[] = [];
  let ended: RunEnd;
  try {
    const before = timeTaken(events);
    await removeTemporaries(out);
    await writeOut(join(out, "config.json"), [`${JSON.stringify(config, null, 2)}\n`]);
    // Once, beside the checkpoints, which have none: any of them can then be opened as a model.
    await saveCompanions(join(out, "tokenizer"), companionsOf(config));
    ended = await withEngines(config.engines ?? {}, run, (signal) =>
      withModels(
        { ...run, signal },
        inputs,
        async ({ teacher, reopen, openStudent, forget, fingerprint }) => {
          const result = await train({
            method,
            settings: configuredSettings(config),
            batchSize: config.batch_size,
            seed: config.seed,
            data:
              games === null
                ? configuredData(config, episodes)
                : liveData(games.tasks, { ...games, seed: config.seed }),
            codec: tokenizer.codec,
            teacher,
            reopen,
            ...(parent === null
              ? {}
              : { parent: { name: parent.name, step: parent.step, depth: parent.depth } }),
            openStudent,
            contexts: libraryContexts({ sources, codec: tokenizer.codec, limit: config.evidence_tokens }),
            sources,
            ...(evaluate === undefined || evaluation === null
              ? {}
              : { evaluation: configuredEvaluation(evaluate, evaluation) }),
            ...(inputs.watch === null ? {} : { watch: inputs.watch }),
            checkpoints: new DiskCheckpoints(
              join(out, "checkpoints"),
              config.keep_checkpoints,
              forget,
              config.keep_every,
              run.onNote,
            ),
            ...(config.checkpoint_every === undefined ? {} : { checkpointEvery: config.checkpoint_every }),
            ...(config.keep_every === undefined ? {} : { keepEvery: config.keep_every }),
            budget: {
              seconds: config.budget === undefined ? Number.POSITIVE_INFINITY : budgetSeconds(config.budget),
              spent: () => before.spent + run.clock(),
              steps: before.steps,
            },
            fingerprint: {
              ...fingerprint,
              ...(config.library === undefined
                ? {}
                : { library: await filesDigest(namedFiles(config.library)) }),
              evidence_tokens: sha256Hex(String(config.evidence_tokens ?? "")),
            },
            onEvent: (event) => {
              started = true;
              log.write(event);
              if (event.type === "done" || event.type === "stopped") ends.push(event);
              else run.onEvent(event);
            },
            onBatch: (batch) => writeBatch(join(out, "batch.jsonl"), batch, tokenizer.codec),
            onWork: run.onWork,
            signal,
            stop: run.stop,
          });
          return finish(run, result);
        },
      ),
    );
  } finally {
    try {
      log.close();
      // Under the lock: once it is given back, another process may work in the folder. What engines said stays there.
      if (made !== undefined && !started && config.engines === undefined) await removeMadeFolder(out, made);
    } finally {
      unlock();
    }
  }
  for (const event of ends) run.onEvent(event);
  return ended;
}

const companionsOf = ({ student, tokenizer }: TrainingRun["config"]): string[] => [
  student,
  tokenizer ?? student,
];

/** Writes the finished student. */
async function finish(
  { config, out }: TrainingRun,
  { student, finished, overBudget }: TrainResult,
): Promise<RunEnd> {
  try {
    if (finished) {
      await saveModel(student, join(out, "student"), {
        optimizer: false,
        companionsFrom: companionsOf(config),
        replace: true,
      });
    }
    return finished ? "done" : overBudget ? "budget" : "stopped";
  } finally {
    student.dispose();
  }
}
