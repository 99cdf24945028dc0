/** Many episodes in a folder: what was played is kept as it happens, so that the same command goes on after a kill. */
import { existsSync } from "node:fs";
import { rm } from "node:fs/promises";
import { basename, join } from "node:path";
import { InputError } from "../../core/errors.ts";
import {
  type PlayConfig,
  type PlayEvent,
  type Played,
  type PlayTask,
  play,
  type TextCodec,
} from "../../core/loop/index.ts";
import type { Sampler } from "../../core/ports.ts";
import { parseObject } from "../../core/record/read.ts";
import { sha256Hex } from "../../core/seeded.ts";
import { parseHubName } from "../../engine/hub/node.ts";
import { openFolder } from "../../engine/webgpu/node-folder.ts";
import { onFile } from "../../node/file-error.ts";
import { makeFolder } from "../../node/whole-file.ts";
import { checkTokenizerFits, openTokenizer, TOKENIZER_FILES, textCodec } from "../../text/index.ts";
import { lockFolder } from "../../worker/lock.ts";
import { openCompute } from "../engine/compute.ts";
import { readText, writeOut, writeRecordsOut } from "../io.ts";
import { filesDigest, modelDigest } from "../train/fingerprint.ts";
import { type LiveGames, openGames } from "./open-games.ts";
import { type PolicyFolders, policyFolders } from "./policy-folders.ts";
import { ProgressLog } from "./progress-log.ts";

export interface PlayRunOptions {
  config: PlayConfig;
  out: string;
  onNote: (note: string) => void;
  onProgress: (progress: { done: number; total: number }) => void;
  signal: AbortSignal;
  /** Lends the policy to `work`; the config's model by default. */
  withPolicy?: WithPolicy;
}

type WithPolicy = (work: (sampler: Sampler, codec: TextCodec) => Promise<void>) => Promise<void>;

/** What a command makes of played episodes. */
export interface PlayRun<R extends object> {
  /** `collect` or `evaluate`: a folder is one or the other. */
  purpose: string;
  /** Name of the file of records. */
  file: string;
  /**
   * Episodes are played in groups of `at_once`, each group from its beginning to its end: one that was interrupted
   * begins again. What a device rounds can depend on the batch, so that only this repeats every draw on every device.
   * Otherwise an interrupted episode goes on with the decisions that it has.
   */
  inGroups: boolean;
  /** Every episode, in the order of the records. */
  episodes(games: LiveGames): readonly PlannedEpisode<R>[];
}

export interface PlannedEpisode<R> {
  id: string;
  /** What a model plays, and the record of it; or a record that is made without one, null where there is none. */
  how: { task: PlayTask; record: (played: Played) => Promise<R> } | { make: () => Promise<R | null> };
}

/**
 * Plays what is missing and writes the records. A folder that has them already is left as it is.
 *
 * @throws InputError for bad input, a folder that is in use, and one that belongs to another run
 */
export async function playRun<R extends object>(run: PlayRun<R>, options: PlayRunOptions): Promise<void> {
  const games = await openGames(options.config.environment);
  try {
    await playIn(games, run, options);
  } finally {
    await games.close();
  }
}

async function playIn<R extends object>(
  games: LiveGames,
  run: PlayRun<R>,
  { config, out, onNote, onProgress, signal, withPolicy }: PlayRunOptions,
): Promise<void> {
  const folders = await policyFolders(config, { signal, onNote });
  const made = await makeFolder(out);
  const unlock = lockFolder(
    join(out, "lock.sqlite"),
    new InputError("another run works in this folder: wait for it or choose another --out", { file: out }),
  );
  let ours = false;
  try {
    await claim(join(out, "run.json"), await identity(run, config, games, folders));
    ours = true;
    const records = join(out, run.file);
    const progress = join(out, "progress.jsonl");
    if (!existsSync(records)) {
      const planned = run.episodes(games);
      const log = await ProgressLog.open(progress);
      try {
        const policy = withPolicy ?? ((work) => lendModel({ config, folders, onNote, signal }, work));
        const atOnce = Math.min(config.at_once, games.atOnce);
        await playMissing(run.inGroups, planned, log, { atOnce, onProgress, signal, withPolicy: policy });
        await writeRecordsOut(records, recordsOf(planned, log));
      } finally {
        log.close();
      }
    }
    // Only now: the records are on the disk.
    await onFile(out, "write", rm(progress, { force: true }));
  } finally {
    unlock();
    if (made !== undefined && !ours) await onFile(made, "write", rm(made, { recursive: true, force: true }));
  }
}

function* recordsOf(planned: readonly { id: string }[], log: ProgressLog): Generator<object> {
  for (const { id } of planned) {
    const record = log.record(id);
    if (record !== null) yield record;
  }
}

type Identity = Record<string, string>;

/** What decides the records, each part as a digest. */
async function identity<R extends object>(
  { purpose, file }: PlayRun<R>,
  config: PlayConfig,
  { digest, tasks }: LiveGames,
  { model, tokenizer }: PolicyFolders,
): Promise<Identity> {
  const { environment, model: _, tokenizer: __, at_once, device, compute, $schema, ...rest } = config;
  const { games, simulator, prompt, ...played } = environment;
  return {
    purpose,
    records: file,
    games: digest,
    tasks: sha256Hex(JSON.stringify(tasks.map(({ task }) => task))),
    model: await modelDigest(openFolder(model)),
    tokenizer: await filesDigest(TOKENIZER_FILES.map((name) => join(tokenizer, name)).filter(existsSync)),
    settings: sha256Hex(JSON.stringify({ ...rest, environment: played, compute })),
  };
}

/** Marks a new folder as this run's. @throws InputError when it is another's */
async function claim(file: string, mine: Identity): Promise<void> {
  if (!existsSync(file)) {
    await writeOut(file, [`${JSON.stringify({ format: "gcopd.play.v1", ...mine }, null, 2)}\n`]);
    return;
  }
  const kept = parseObject(await readText(file), { file });
  const differing = Object.keys(mine).filter((name) => kept[name] !== mine[name]);
  if (differing.length > 0) {
    throw new InputError(
      `this folder is of another run: it differs in ${differing.join(", ")}; use another output folder or the same inputs`,
      { file },
    );
  }
}

async function playMissing<R extends object>(
  inGroups: boolean,
  planned: readonly PlannedEpisode<R>[],
  log: ProgressLog,
  {
    atOnce,
    onProgress,
    signal,
    withPolicy,
  }: Pick<PlayRunOptions, "onProgress" | "signal"> & { atOnce: number; withPolicy: WithPolicy },
): Promise<void> {
  const tell = () => onProgress({ done: log.ended, total: planned.length });
  const toPlay: { task: PlayTask; record: (played: Played) => Promise<R> }[] = [];
  for (const { id, how } of planned) {
    signal.throwIfAborted();
    if ("task" in how) toPlay.push(how);
    else if (!log.hasEnded(id)) log.end(id, await how.make());
  }
  const groups = (
    inGroups
      ? Array.from({ length: Math.ceil(toPlay.length / atOnce) }, (_, n) =>
          toPlay.slice(n * atOnce, (n + 1) * atOnce),
        ).filter((group) => !group.every(({ task }) => log.hasEnded(task.episode)))
      : [toPlay.filter(({ task }) => !log.hasEnded(task.episode))]
  ).filter(({ length }) => length > 0);
  tell();
  if (groups.length === 0) return;
  // An interrupted group begins again: of its episodes only the starts and ends are read.
  const onPlayed = (event: PlayEvent): void => {
    if (!inGroups || event.type === "start") log.write(event);
  };
  await withPolicy(async (sampler, codec) => {
    for (const group of groups) {
      if (inGroups) sampler.forget?.();
      const recorders = new Map(group.map(({ task, record }) => [task.episode, record]));
      await play(
        group.map(({ task }) => {
          const begun = inGroups ? undefined : log.begun(task.episode);
          return begun === undefined ? task : { ...task, begun };
        }),
        sampler,
        codec,
        async (played) => {
          const { episode } = played.task;
          log.end(episode, await recorders.get(episode)!(played));
          tell();
        },
        { atOnce, onPlayed, signal },
      );
    }
  });
}

/** Opens the model and its tokenizer, and frees both whatever happens. */
async function lendModel(
  {
    config: { device, compute },
    folders: { model, tokenizer: tokenizerFolder },
    onNote,
    signal,
  }: Pick<PlayRunOptions, "config" | "onNote" | "signal"> & { folders: PolicyFolders },
  work: Parameters<WithPolicy>[0],
): Promise<void> {
  const tokenizer = await openTokenizer(openFolder(tokenizerFolder));
  const opened = await openCompute({ device, compute, onNote });
  try {
    const policy = await opened.openTrainer(model, { optimizer: "ignore", signal });
    try {
      checkTokenizerFits(tokenizer, { name: model, vocabulary: policy.info.vocabulary });
      await work(policy, textCodec(tokenizer));
    } finally {
      policy.dispose();
    }
  } finally {
    opened.close();
  }
}

/** What records call the model. */
export const modelName = (path: string): string => (parseHubName(path) === null ? basename(path) : path);
