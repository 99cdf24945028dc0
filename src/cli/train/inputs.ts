/** What a training job reads before it starts: episodes, the library's sources, and the tokenizer of both models. */
import { existsSync } from "node:fs";
import { join } from "node:path";
import { InputError } from "../../core/errors.ts";
import { configuredMethod, type TextCodec, type TrainConfig } from "../../core/loop/index.ts";
import type { Method } from "../../core/method/method.ts";
import type { Episode, Source } from "../../core/record/schema.ts";
import { openFolder } from "../../engine/webgpu/node-folder.ts";
import { checkSameTokenizer, checkTokenizerFits, openTokenizer, textCodec } from "../../text/index.ts";
import { openSources, readEpisodes } from "./records.ts";
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
 * @throws InputError for a bad record, a file that holds none, ids that no episode has, and a
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
