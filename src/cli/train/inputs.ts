/** What a training job reads before it starts: episodes, the library's sources, and the tokenizer of both models. */
import { existsSync } from "node:fs";
import { join } from "node:path";
import { InputError } from "../../core/errors.ts";
import { chosenEpisodes, configuredMethod, type TextCodec, type TrainConfig } from "../../core/loop/index.ts";
import type { Method } from "../../core/method/method.ts";
import { taskKey } from "../../core/record/library.ts";
import { readRecords } from "../../core/record/read.ts";
import type { Episode, Source } from "../../core/record/schema.ts";
import { openFolder } from "../../engine/webgpu/node-folder.ts";
import { checkSameTokenizer, checkTokenizerFits, openTokenizer, textCodec } from "../../text/index.ts";
import { EnvironmentNotes } from "../environment-notes.ts";
import { openIndexedFile } from "../indexed-file.ts";
import { openBytes } from "../io.ts";
import type { TrainingRun } from "./training-run.ts";

/** The files of a run, read and checked before a device is asked for. */
export interface TrainingInputs {
  method: Method;
  episodes: readonly Episode[];
  tokenizer: RunTokenizer;
  /** The sources of a task, `[]` where the library has none of it. */
  sources: (environment: string, task: string) => Promise<readonly Source[]>;
  close(): Promise<void>;
}

/**
 * Reads what a run trains on. Says which environments are custom, which records the library leaves out, and which tasks
 * it has no source of.
 *
 * @throws InputError for a bad record, a file that holds none, ids that the episodes file does not have, and a
 * tokenizer that is missing or is not that of both models
 */
export async function readInputs({
  config,
  configFile,
  onNote,
}: Pick<TrainingRun, "config" | "configFile" | "onNote">): Promise<TrainingInputs> {
  const method = configuredMethod(config);
  const episodes = await readEpisodes(config, configFile);
  const tokenizer = await runTokenizer(config, configFile);
  const retrieves = method.stages.some(({ evidence }) => evidence.kind !== "none");
  const { read, close } = await openSources(config, episodes, retrieves ? onNote : () => undefined);
  return { method, episodes, tokenizer, sources: read, close };
}

async function readEpisodes(config: TrainConfig, configFile: string): Promise<Episode[]> {
  const { episodes: file } = config;
  async function* all(): AsyncGenerator<Episode> {
    for await (const { record } of readRecords(openBytes(file), { file, kind: "episode" })) yield record;
  }
  const episodes: Episode[] = [];
  try {
    for await (const episode of chosenEpisodes(config, all())) episodes.push(episode);
  } catch (error) {
    if (!(error instanceof InputError) || error.where.key !== "episode_ids") throw error;
    throw new InputError(error.reason, { ...error.where, file: configFile });
  }
  if (episodes.length === 0) throw new InputError("holds no records", { file });
  return episodes;
}

interface TaskSources {
  read: TrainingInputs["sources"];
  close: TrainingInputs["close"];
}

/**
 * The sources of the tasks that the episodes are of, read from the library a task at a time. All of them are read once
 * now, so that a bad record ends the run before it starts.
 */
async function openSources(
  { library: file }: TrainConfig,
  episodes: readonly Episode[],
  onNote: (note: string) => void,
): Promise<TaskSources> {
  if (file === undefined) return { read: async () => [], close: async () => undefined };
  const { library, close } = await openIndexedFile(file, { kind: "source" });
  const read = async (environment: string, task: string) => {
    const place = library.find(environment, task);
    return place === undefined ? [] : library.readTask(place);
  };
  try {
    const tasks = new Map(
      episodes.map(({ environment, task }) => [taskKey(environment, task), { environment, task }]),
    );
    new EnvironmentNotes().library(library.tasks, file);
    for (const { environment, task } of tasks.values()) await read(environment, task);
    const without = [...tasks.values()].filter(
      ({ environment, task }) => library.find(environment, task) === undefined,
    );
    if (without.length > 0) onNote(noSources(file, without, tasks.size));
  } catch (error) {
    await close();
    throw error;
  }
  return { read, close };
}

/** Such tasks stay in training, with the student's hindsight as the whole evidence: which they are must be known. */
function noSources(file: string, without: readonly { task: string }[], tasks: number): string {
  const some = without.slice(0, 3).map(({ task }) => JSON.stringify(task));
  const more = without.length > some.length ? ", …" : "";
  return (
    `gcopd: warning: ${file} has no source of ${without.length} of the ${tasks} tasks that the episodes are of: ` +
    `nothing can be retrieved for ${some.join(", ")}${more}`
  );
}

export interface RunTokenizer {
  codec: TextCodec;
  /** Refuses a model whose vocabulary is smaller than the tokenizer's. */
  fits(model: { name: string; vocabulary: number }): void;
}

/** The tokenizer that both models read; tokenizers in the model folders must agree with it. */
async function runTokenizer(config: TrainConfig, configFile: string): Promise<RunTokenizer> {
  const has = (folder: string) => existsSync(join(folder, "tokenizer.json"));
  const folder = config.tokenizer ?? config.student;
  if (!has(folder)) {
    throw new InputError(
      config.tokenizer === undefined
        ? `the student's folder has no tokenizer.json: name a tokenizer's folder (${folder})`
        : `no tokenizer.json in ${folder}`,
      { file: configFile, key: "tokenizer" },
    );
  }
  const tokenizer = await openTokenizer(openFolder(folder));
  for (const other of [config.student, config.teacher]) {
    if (other !== folder && has(other)) checkSameTokenizer(await openTokenizer(openFolder(other)), tokenizer);
  }
  return { codec: textCodec(tokenizer), fits: (model) => checkTokenizerFits(tokenizer, model) };
}
