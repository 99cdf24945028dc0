/** A library file, prepared for retrieval task by task as episodes ask for them. */
import { environmentRules } from "../core/environment/environment.ts";
import { InputError } from "../core/errors.ts";
import { indexTasks, readLibrary, taskKey } from "../core/record/library.ts";
import type { Episode } from "../core/record/schema.ts";
import { type PreparedTask, prepareTask } from "../core/retrieval/prepare.ts";
import { type SourceSelection, selectSources } from "../core/retrieval/selection.ts";
import { UsageError } from "./command.ts";
import { EnvironmentNotes } from "./environment-notes.ts";
import { fileLabel, openBytes, progress } from "./io.ts";

/** Two options that name the same standard stream cannot both be read. */
export function checkStandardInput(...paths: string[]): void {
  if (paths.filter((path) => path === "-").length > 1) {
    throw new UsageError("only one file can be read from standard input (-)");
  }
}

export interface PreparedLibrary {
  tasks: number;
  sources: number;
  /**
   * The task of an episode. One that the library does not have is retrieved over no sources, after a warning: such
   * tasks stay in training, with the student's hindsight as the whole evidence.
   */
  taskOf(episode: Episode, where: { file: string; line?: number }): PreparedTask;
}

/**
 * Reads a whole library, and keeps the sources that the selection lets take part. Throws `InputError` for bad records.
 * Says which environments are custom, and what stays out of the library.
 */
export async function readPreparedLibrary(
  path: string,
  selection: SourceSelection = {},
): Promise<PreparedLibrary> {
  const library = await readLibrary(openBytes(path), { file: fileLabel(path) });
  for (const entry of library.tasks) entry.sources = [...selectSources(entry.sources, selection)];
  const notes = new EnvironmentNotes();
  notes.library(library.tasks, fileLabel(path));
  const tasks = indexTasks(library);
  const prepared = new Map<string, PreparedTask>();
  return {
    tasks: library.tasks.length,
    sources: library.tasks.reduce((count, task) => count + task.sources.length, 0),
    taskOf(episode, { file }) {
      const key = taskKey(episode.environment, episode.task);
      const known = prepared.get(key);
      if (known !== undefined) return known;
      notes.environment(episode.environment, file);
      const rules = environmentRules(episode.environment);
      const entry = tasks.get(key);
      if (entry === undefined) {
        progress(
          `gcopd: warning: ${fileLabel(path)} has no source of task ${JSON.stringify(episode.task)}: ` +
            "nothing can be retrieved for it",
        );
      }
      const task = prepareTask(entry?.sources ?? [], rules);
      prepared.set(key, task);
      return task;
    },
  };
}

/** One episode of a file by its id. `InputError` when the file has none of that id. */
export function findEpisode(episodes: readonly Episode[], id: string, file: string): Episode {
  const found = episodes.find((episode) => episode.episode === id);
  if (found !== undefined) return found;
  const some = episodes.slice(0, 3).map((episode) => JSON.stringify(episode.episode));
  throw new InputError(
    episodes.length === 0
      ? "the file has no episodes"
      : `no episode ${JSON.stringify(id)} among ${episodes.length}: ${some.join(", ")}${episodes.length > 3 ? ", …" : ""}`,
    { file },
  );
}
