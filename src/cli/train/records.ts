/** The records that a run reads: its episodes, and the sources of their tasks. Each may lie in several files. */
import { InputError } from "../../core/errors.ts";
import { chosenEpisodes, namedFiles, type TrainConfig } from "../../core/loop/index.ts";
import { referenceOf } from "../../core/loop/references.ts";
import { taskKey } from "../../core/record/library.ts";
import type { Episode, Source } from "../../core/record/schema.ts";
import { type SourceSelection, selectSources } from "../../core/retrieval/selection.ts";
import type { IndexedLibrary } from "../../formats/indexed/index.ts";
import { readRecords } from "../../formats/read.ts";
import { EnvironmentNotes, FeedbackMismatches } from "../environment-notes.ts";
import { type IndexedFile, openIndexedFile } from "../indexed-file.ts";
import { openBytes } from "../io.ts";

/** Where a record was read. */
export interface RecordPlace {
  file: string;
  line: number;
}

/** Finds records that two files have; within one file its reader does. */
class UniqueOverFiles {
  readonly #places = new Map<string, RecordPlace>();

  /** @throws InputError that names both places when the record was there before, in another file */
  check(kind: "source" | "episode", of: readonly string[], id: string, at: RecordPlace): void {
    const before = this.place(of, id);
    if (before !== undefined)
      throw new InputError(
        `${kind} ${JSON.stringify(id)} was already in ${before.file}, line ${before.line}`,
        { ...at, key: kind },
      );
    this.#places.set(JSON.stringify([...of, id]), at);
  }

  /** Undefined for a record that was not checked. */
  place(of: readonly string[], id: string): RecordPlace | undefined {
    return this.#places.get(JSON.stringify([...of, id]));
  }
}

/**
 * The episodes that a config chooses, in the order of its files, and where each was read.
 *
 * @throws InputError for a bad record, for one that is in two files, for a file that holds none, and for an id that no
 * episode has
 */
export async function readEpisodes(
  config: TrainConfig,
  configFile: string,
): Promise<{ episodes: Episode[]; placeOf: (episode: Episode) => RecordPlace | undefined }> {
  const episodes: Episode[] = [];
  const unique = new UniqueOverFiles();
  try {
    for await (const episode of chosenEpisodes(config, allEpisodes(namedFiles(config.episodes), unique)))
      episodes.push(episode);
  } catch (error) {
    if (!(error instanceof InputError) || error.where.key !== "episode_ids") throw error;
    throw new InputError(error.reason, { ...error.where, file: configFile });
  }
  return { episodes, placeOf: ({ episode }) => unique.place([], episode) };
}

/** The episodes of files in their order. @throws InputError as `readEpisodes` does */
export async function* allEpisodes(
  files: readonly string[],
  unique = new UniqueOverFiles(),
): AsyncGenerator<Episode> {
  for (const file of files) {
    let count = 0;
    for await (const { record, line } of readRecords(openBytes(file), { file, kind: "episode" })) {
      unique.check("episode", [], record.episode, { file, line });
      count += 1;
      yield record;
    }
    if (count === 0) throw new InputError("holds no records", { file });
  }
}

export interface TaskSources {
  /** D_x in the order of the files; none where the library has none. */
  read(environment: string, task: string): Promise<readonly Source[]>;
  /** The tasks that are trained on, and how many of them have a reference that a student can be put behind. */
  tasks: number;
  referenced: number;
  close(): Promise<void>;
}

/**
 * The sources of the tasks that are trained on, read from the library a task at a time. All of them are read once
 * now, so that a bad record ends the run before it starts. Where stages retrieve (`selections`), says which tasks have
 * no source, and which have none that a stage keeps.
 *
 * @throws InputError for a bad record, and for one that is in two files
 */
export async function openSources(
  { library }: TrainConfig,
  trainedOn: readonly { environment: string; task: string }[],
  selections: readonly SourceSelection[],
  onNote: (note: string) => void,
): Promise<TaskSources> {
  const files = namedFiles(library);
  const tasks = new Map(
    trainedOn.map(({ environment, task }) => [taskKey(environment, task), { environment, task }]),
  );
  let referenced = 0;
  const opened: IndexedFile[] = [];
  const close = async (): Promise<void> => {
    for (const file of opened) await file.close();
  };
  const read = async (environment: string, task: string): Promise<Source[]> => {
    const sources: Source[] = [];
    for (const file of opened) {
      const place = file.library.find(environment, task);
      if (place !== undefined) sources.push(...(await file.library.readTask(place)));
    }
    return sources;
  };
  try {
    for (const file of files) opened.push(await openIndexedFile(file, { kind: "source" }));
    const libraries = opened.map((file) => file.library);
    checkUnique(libraries);
    const notes = new EnvironmentNotes();
    for (const { name, tasks: all } of libraries) notes.library(all, name);
    const mismatches = new FeedbackMismatches();
    const absent: string[] = [];
    const unkept: string[] = [];
    const over: number[] = [];
    for (const { environment, task } of tasks.values()) {
      const sources = await read(environment, task);
      for (const source of sources) mismatches.add(source);
      if (referenceOf(sources) !== null) referenced += 1;
      if (sources.length === 0) absent.push(task);
      else if (selections.every((selection) => selectSources(sources, selection).length === 0))
        unkept.push(task);
      const most = Math.max(0, ...selections.map((selection) => overBudget(sources, selection)));
      if (most > 0) over.push(most);
    }
    if (files.length > 0 && selections.length > 0) {
      const tell = (none: string, without: readonly string[]): void => {
        if (without.length > 0) onNote(noSources(none, without, tasks.size));
      };
      tell(`${files.join(", ")} ${files.length === 1 ? "has" : "have"} no source`, absent);
      tell(`the method (${limitsOf(selections)}) keeps no source`, unkept);
      if (over.length > 0) {
        const most = over.reduce((largest, count) => Math.max(largest, count), 0);
        onNote(
          `gcopd: warning: more sampled sources than sources_per_task are kept of ${over.length} of the ${tasks.size} ` +
            `tasks that are trained on, up to ${most}: it counts repetitions, and sources share them`,
        );
      }
      for (const line of mismatches.lines()) onNote(`gcopd: note: ${files.join(", ")}: ${line}`);
    }
  } catch (error) {
    await close();
    throw error;
  }
  return { read, close, tasks: tasks.size, referenced };
}

function checkUnique(libraries: readonly IndexedLibrary[]): void {
  if (libraries.length < 2) return;
  const unique = new UniqueOverFiles();
  for (const { name, tasks } of libraries)
    for (const { environment, task, sources } of tasks)
      for (const { id, line } of sources)
        unique.check("source", [environment, task], id, { file: name, line });
}

/** Such tasks stay in training, with the student's hindsight as the whole evidence: which they are must be known. */
function noSources(none: string, without: readonly string[], tasks: number): string {
  const some = without.slice(0, 3).map((task) => JSON.stringify(task));
  const more = without.length > some.length ? ", …" : "";
  return (
    `gcopd: warning: ${none} of ${without.length} of the ${tasks} tasks that are trained on: ` +
    `nothing can be retrieved for ${some.join(", ")}${more}`
  );
}

/** The sampled sources that a selection keeps of a task where these are more than its budget; otherwise 0. */
function overBudget(sources: readonly Source[], selection: SourceSelection): number {
  const { sourcesPerTask: budget = Number.POSITIVE_INFINITY } = selection;
  const kept = selectSources(sources, { ...selection, augmentation: false }).length;
  return kept > budget ? kept : 0;
}

/** The keys of a config that leave sources out, each selection once. */
function limitsOf(selections: readonly SourceSelection[]): string {
  const limits = selections.map(({ sourcesPerTask, augmentation, subset }) =>
    [
      ...(sourcesPerTask === undefined ? [] : [`sources_per_task ${sourcesPerTask}`]),
      ...(augmentation === false ? ["augmentation false"] : []),
      ...(subset === undefined ? [] : ["a subset"]),
    ].join(", "),
  );
  return [...new Set(limits)].join("; ");
}
