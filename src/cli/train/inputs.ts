/** What a training job reads before it starts: episodes, the library's sources, and the tokenizer of both models. */
import { InputError } from "../../core/errors.ts";
import { configuredMethod, configuredTeacher, type TrainConfig, type Watch } from "../../core/loop/index.ts";
import { type Method, stagesTaken } from "../../core/method/method.ts";
import type { Episode, Source } from "../../core/record/schema.ts";
import { type LiveGames, openGames } from "../live/open-games.ts";
import { openParent, type Parent } from "./parent.ts";
import { openSources, type RecordPlace, readEpisodes, type TaskSources } from "./records.ts";
import { type RunTokenizer, runTokenizer } from "./run-tokenizer.ts";
import type { TrainingRun } from "./training-run.ts";
import { readWatch } from "./watch.ts";

/** The files of a run, read and checked before a device is asked for. */
export interface TrainingInputs {
  method: Method;
  /** The run that this one continues; null where it begins from the student's folder. */
  parent: Parent | null;
  /** Recorded ones; none where the student plays live. */
  episodes: readonly Episode[];
  /** Where a recorded episode was read, for messages. */
  placeOf: (episode: Episode) => RecordPlace | undefined;
  /** The tasks that the student plays live; null where the run trains on recorded episodes. */
  games: LiveGames | null;
  /** The tasks that the student is measured on as it is trained; null where it is not. */
  evaluation: LiveGames | null;
  /** The decisions that the student is looked at; null where there are none. */
  watch: Watch | null;
  tokenizer: RunTokenizer;
  /** The sources of a task, `[]` where the library has none of it. */
  sources: (environment: string, task: string) => Promise<readonly Source[]>;
  close(): Promise<void>;
}

/**
 * Reads what a run trains on. Says which environments are custom, which records the library leaves out, and which tasks
 * it has no source of, or none that the method keeps.
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
  const games = config.environment === undefined ? null : await openGames(config.environment);
  let evaluation: LiveGames | null = null;
  let sources: TaskSources | null = null;
  const close = async () => {
    await sources?.close();
    await games?.close();
    await evaluation?.close();
  };
  try {
    evaluation = await evaluationGames(config);
    const { episodes, placeOf } =
      games === null ? await readEpisodes(config, configFile) : { episodes: [], placeOf: () => undefined };
    const tokenizer = await runTokenizer(
      { ...config, teacher: configuredTeacher(config) },
      configFile,
      onNote,
    );
    const parent = config.parent === undefined ? null : await openParent(config.parent, config, method);
    const tasks = games?.tasks ?? episodes;
    const watch = await readWatch(config, configFile, { codec: tokenizer.codec, recorded: episodes, tasks });
    const stages = stagesTaken(method);
    const selections = stages.flatMap(({ evidence }) => (evidence.kind === "none" ? [] : [evidence]));
    sources = await openSources(config, tasks, selections, onNote);
    // The plan of an experiment has no library yet.
    if (config.library !== undefined && stages.some(({ sampling }) => sampling?.kind === "prefix"))
      tellReferences(sources, configFile, onNote);
    const records = { episodes, placeOf, games, evaluation, watch, sources: sources.read };
    return { method, parent, ...records, tokenizer, close };
  } catch (error) {
    await close();
    throw error;
  }
}

/**
 * Says how many tasks have no reference that a stage can put the student behind.
 *
 * @throws InputError where none has one: the stage would be one without a prefix
 */
function tellReferences(
  { tasks, referenced }: TaskSources,
  configFile: string,
  onNote: (note: string) => void,
): void {
  if (referenced === 0) {
    throw new InputError(
      "no task that is trained on has a planner or oracle record that can be replayed: expected one that succeeded, is verified, and has neither a gap nor a rejected action",
      { file: configFile, key: "library" },
    );
  }
  if (referenced < tasks) {
    onNote(
      `gcopd: warning: ${tasks - referenced} of ${tasks} tasks have no reference and start at their beginning`,
    );
  }
}

/** Null where the student is not measured. @throws InputError as `openGames` does, with the keys of `evaluate` */
async function evaluationGames({ evaluate, environment }: TrainConfig): Promise<LiveGames | null> {
  const named = evaluate?.environment ?? environment;
  if (evaluate === undefined || named === undefined) return null;
  const { tasks } = evaluate;
  const { goals: _, ...place } = named;
  try {
    return await openGames(tasks === undefined ? named : { ...place, tasks });
  } catch (error) {
    if (!(error instanceof InputError) || error.where.key === undefined) throw error;
    const key =
      tasks !== undefined && error.where.key === "environment.tasks"
        ? "evaluate.tasks"
        : `evaluate.${error.where.key}`;
    throw new InputError(error.reason, { ...error.where, key });
  }
}
