/** Many episodes in a folder: what was played is kept as it happens, so that the same command goes on after a kill. */
import { rm } from "node:fs/promises";
import { join } from "node:path";
import { changedKeys, changedText } from "../../core/changed-keys.ts";
import { InputError } from "../../core/errors.ts";
import {
  namedTasks,
  type PlannedEpisode,
  type PlayConfig,
  type PlayProgress,
  type PlaySettings,
  playPlanned,
  playSettings,
  taskOrigin,
  type WithPolicy,
} from "../../core/loop/index.ts";
import { sha256Hex } from "../../core/seeded.ts";
import { parseObject } from "../../formats/read.ts";
import { isThere, onFile } from "../../node/file-error.ts";
import { lockFolder } from "../../node/lock.ts";
import { makeFolder, removeMadeFolder, removeTemporaries } from "../../node/whole-file.ts";
import { readText, writeOut, writeRecordsOut } from "../io.ts";
import { filesDigest } from "../train/fingerprint.ts";
import { type LiveGames, openGames } from "./open-games.ts";
import { PlaySeconds } from "./play-seconds.ts";
import { knownIdentity, openPolicy, type Policy } from "./policy.ts";
import { ProgressLog } from "./progress-log.ts";
import { namedGoals } from "./shop-server.ts";

export interface PlayRunOptions {
  config: PlayConfig;
  out: string;
  onNote: (note: string) => void;
  /** `atOnce`: episodes that play side by side. */
  onProgress: (progress: PlayProgress & { atOnce: number }) => void;
  signal: AbortSignal;
  /** Lends the policy to `work`; the config's model by default. */
  withPolicy?: WithPolicy;
}

/** File that says which run a folder is of. */
export const RUN = "run.json";

/** What a command makes of played episodes. */
export interface PlayRun<R extends object> {
  /** A folder is of one or the other. */
  purpose: "collect" | "evaluate";
  /** Name of the file of records. */
  file: string;
  /** As `PlayPlannedOptions` has it. */
  inGroups: boolean;
  /**
   * Every episode, in the order of the records.
   *
   * @param model what records call the policy
   */
  episodes(games: LiveGames, model: string): readonly PlannedEpisode<R>[];
  /** Called once the records are there, while no other process works in the folder. */
  finish?(): Promise<void>;
}

/**
 * Plays what is missing and writes the records. A folder that has them already is left as it is, and its servers
 * may be gone.
 *
 * @throws InputError for bad input, a folder that is in use, and one that belongs to another run
 */
export async function playRun<R extends object>(run: PlayRun<R>, options: PlayRunOptions): Promise<void> {
  const { config, out } = options;
  if ([run.file, RUN].every((name) => isThere(join(out, name)))) {
    const known = await knownOf(run, options);
    await inFolder(run, out, () => check(join(out, RUN), known, decisive(config)));
    return;
  }
  const games = await openGames(config.environment);
  try {
    await playIn(games, run, options);
  } finally {
    await games.close();
  }
}

/** What decides finished records, as far as it can be told: their servers may be gone. */
async function knownOf<R extends object>(
  run: PlayRun<R>,
  { config, onNote, signal }: PlayRunOptions,
): Promise<Identity> {
  const policy = await knownIdentity(config, { onNote, signal });
  const { environment } = config;
  const place = taskOrigin(environment);
  let games: LiveGames;
  try {
    games = await openGames(environment);
  } catch (error) {
    if (!("server" in place && error instanceof InputError)) throw error;
    onNote(`${error.message}; the records are finished and stay as they are`);
    return identity(run, config, { tasks: namedGoals(place, namedTasks(environment)) }, policy);
  }
  try {
    return identity(run, config, games, policy);
  } finally {
    await games.close();
  }
}

/**
 * Works under the folder's lock, and ends with what comes after the records.
 *
 * @param work throws for a folder that is not this run's
 */
async function inFolder<R extends object>(
  { finish }: PlayRun<R>,
  out: string,
  work: () => Promise<void>,
): Promise<void> {
  const unlock = lockFolder(
    join(out, "lock.sqlite"),
    new InputError("another run works in this folder: wait for it or choose another --out", { file: out }),
  );
  try {
    await work();
    // Only now: the records are on the disk.
    await onFile(out, "write", rm(progressIn(out), { force: true }));
    await removeTemporaries(out);
    await finish?.();
  } finally {
    unlock();
  }
}

async function playIn<R extends object>(
  games: LiveGames,
  run: PlayRun<R>,
  { config, out, onNote, onProgress, signal, withPolicy }: PlayRunOptions,
): Promise<void> {
  const policy = await openPolicy(config, { signal, onNote });
  const made = await makeFolder(out);
  const atOnce = Math.min(config.at_once, games.atOnce);
  await inFolder(run, out, async () => {
    const begunWith = {
      // For the reader, and for messages: none of it is compared.
      at_once: atOnce,
      device: config.policy === undefined ? config.device : "served",
      play_settings: await settingsOf(run.purpose, config),
      given: decisive(config),
      task_list: games.tasks.map(({ task }) => task),
    };
    let isNew = false;
    try {
      isNew = made !== undefined && !isThere(join(out, RUN));
      await claim(join(out, RUN), identity(run, config, games, policy.identity), begunWith);
    } catch (error) {
      // Under the lock: once it is given back, another process may work in the folder.
      if (isNew) await removeMadeFolder(out, made!).catch(() => undefined);
      throw error;
    }
    const records = join(out, run.file);
    if (isThere(records)) return;
    const seconds = new PlaySeconds(out, policy.device);
    const planned = seconds.timed(run.episodes(games, policy.name));
    try {
      const log = await ProgressLog.open(progressIn(out));
      try {
        const { inGroups } = run;
        await playPlanned(planned, log, {
          ...{ inGroups, atOnce, signal },
          onProgress: (progress) => {
            seconds.write();
            onProgress({ ...progress, atOnce });
          },
          withPolicy: withPolicy ?? policy.lend,
        });
        await writeRecordsOut(records, recordsOf(planned, log));
      } finally {
        log.close();
      }
    } finally {
      seconds.close();
    }
  });
}

/** What a config's episodes are played by; a prompt of its own as the digest of its file. */
export async function settingsOf(purpose: "collect" | "evaluate", config: PlayConfig): Promise<PlaySettings> {
  const { name, prompt, ...limits } = config.environment;
  const own = prompt === undefined ? null : await filesDigest([prompt]);
  return playSettings(name, purpose, { ...config, ...limits }, own);
}

/** What was played, until the records are written. */
const progressIn = (out: string): string => join(out, "progress.jsonl");

function* recordsOf(planned: readonly { id: string }[], log: ProgressLog): Generator<object> {
  for (const { id } of planned) {
    const record = log.record(id);
    if (record !== null) yield record;
  }
}

type Identity = Record<string, string>;

/**
 * What decides the records, each part as a digest.
 *
 * @param games without a digest where the server that tells it is gone
 */
function identity<R extends object>(
  { purpose, file }: PlayRun<R>,
  config: PlayConfig,
  { digest, tasks }: { digest?: string; tasks: readonly { task: string }[] },
  policy: Partial<Policy["identity"]>,
): Identity {
  return {
    purpose,
    records: file,
    ...(digest === undefined ? {} : { games: digest }),
    tasks: sha256Hex(JSON.stringify(tasks.map(({ task }) => task))),
    ...policy,
    settings: sha256Hex(JSON.stringify(decisive(config))),
  };
}

/** The keys of a config that decide the records, but for those that the identity has a digest of. */
function decisive(config: PlayConfig): object {
  const { environment, model, tokenizer, policy, policy_model, ...more } = config;
  const { at_once, device, compute, $schema, ...rest } = more;
  const { games, made, simulator, server, server_settings, goals, prompt, ...played } = environment;
  return { ...rest, environment: played, compute };
}

/** Marks a new folder as this run's. @throws InputError when it is another's */
async function claim(file: string, mine: Identity, begunWith: { given: object }): Promise<void> {
  if (!isThere(file)) {
    await writeOut(file, [
      `${JSON.stringify({ format: "gcopd.play.v1", ...mine, ...begunWith }, null, 2)}\n`,
    ]);
    return;
  }
  await check(file, mine, begunWith.given);
}

/** @throws InputError that names what differs, when a folder's run differs from this one */
async function check(file: string, mine: Identity, given: object): Promise<void> {
  const kept = parseObject(await readText(file), { file });
  const differing = Object.keys(mine).filter((name) => kept[name] !== mine[name]);
  if (differing.length === 0) return;
  // Runs of an earlier version kept no settings but their digest.
  const changed = kept.given === undefined ? [] : changedKeys(kept.given, JSON.parse(JSON.stringify(given)));
  const named = differing.map((name) =>
    name === "settings" && changed.length > 0 ? `settings (${changedText(changed)})` : name,
  );
  throw new InputError(
    `this folder is of another run: it differs in ${named.join(", ")}; use another output folder or the same inputs`,
    { file },
  );
}
