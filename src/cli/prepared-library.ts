/** A library file, prepared for retrieval task by task as episodes ask for them. */
import { environmentRules } from "../core/environment/environment.ts";
import { InputError } from "../core/errors.ts";
import { Lru } from "../core/lru.ts";
import { taskKey } from "../core/record/library.ts";
import type { Episode } from "../core/record/schema.ts";
import { type PreparedTask, prepareTask } from "../core/retrieval/prepare.ts";
import { type SourceSelection, selectSources } from "../core/retrieval/selection.ts";
import { UsageError } from "./command.ts";
import { EnvironmentNotes, FeedbackMismatches } from "./environment-notes.ts";
import { openIndexedFile } from "./indexed-file.ts";
import { fileLabel, progress } from "./io.ts";

/** Two options that name the same standard stream cannot both be read. */
export function checkStandardInput(...paths: string[]): void {
  if (paths.filter((path) => path === "-").length > 1) {
    throw new UsageError("only one file can be read from standard input (-)");
  }
}

export interface PreparedLibrary {
  tasks: number;
  /** Those that the selection lets take part. */
  sources: number;
  /**
   * The task of an episode, read and prepared now unless it was lately. One that the library does not have is retrieved
   * over no sources, after a warning: such tasks stay in training, with the student's hindsight as the whole evidence.
   */
  taskOf(episode: Episode, where: { file: string; line?: number }): Promise<PreparedTask>;
  close(): Promise<void>;
}

/** Bytes of records whose prepared tasks are kept: about 90 tasks of 16 executions. */
const KEPT_BYTES = 16 << 20;

/**
 * Opens a library, of whose sources those take part that the selection lets. A task is read when an episode asks for it,
 * and checked then. Throws `InputError` for a file that is not a library. Says which environments are custom, and what
 * stays out of the library.
 */
export async function openPreparedLibrary(
  path: string,
  selection: SourceSelection = {},
): Promise<PreparedLibrary> {
  const { library, close } = await openIndexedFile(path, { kind: "source" });
  const selected = library.tasks.map(({ environment, task, sources }) => ({
    environment,
    sources: selectSources(
      sources.map((entry) => ({
        ...{ entry, environment, task, source: entry.id, outcome: entry },
        repetition: entry.repetition!,
        origin: { kind: entry.origin! },
      })),
      selection,
    ).map(({ entry }) => entry),
  }));
  for (const id of selection.without ?? []) {
    if (library.tasks.some(({ sources }) => sources.some((entry) => entry.id === id))) continue;
    throw new InputError(`no task has a source ${JSON.stringify(id)} to leave out`, {
      file: fileLabel(path),
    });
  }
  const notes = new EnvironmentNotes();
  notes.library(selected, fileLabel(path));
  const mismatches = new FeedbackMismatches();
  const counted = new Set<string>();
  const warned = new Set<string>();
  const kept = new Lru<PreparedTask>(KEPT_BYTES);
  return {
    tasks: library.counts.tasks,
    sources: selected.reduce((count, { sources }) => count + sources.length, 0),
    async close() {
      for (const line of mismatches.lines()) progress(`gcopd: note: ${fileLabel(path)}: ${line}`);
      await close();
    },
    async taskOf(episode, { file }) {
      const key = taskKey(episode.environment, episode.task);
      const known = kept.get(key);
      if (known !== undefined) return known;
      notes.environment(episode.environment, file);
      const place = library.find(episode.environment, episode.task);
      if (place === undefined && !warned.has(key)) {
        warned.add(key);
        progress(
          `gcopd: warning: ${fileLabel(path)} has no source of task ${JSON.stringify(episode.task)}: ` +
            "nothing can be retrieved for it",
        );
      }
      const sources = place === undefined ? [] : await library.readTask(place);
      const selected = selectSources(sources, selection);
      if (!counted.has(key)) for (const source of selected) mismatches.add(source);
      counted.add(key);
      const task = prepareTask(selected, environmentRules(episode.environment));
      const bytes =
        place === undefined ? 0 : library.tasks[place]!.sources.reduce((sum, entry) => sum + entry.bytes, 0);
      kept.set(key, task, bytes);
      return task;
    },
  };
}

/** One episode of a file by its id. `InputError` when the file has none with that id. */
export async function readEpisodeOf(path: string, id: string): Promise<Episode> {
  const { library, close } = await openIndexedFile(path, { kind: "episode" });
  try {
    const found = await library.readEpisode(id);
    if (found !== undefined) return found.episode;
    const ids = library.episodeIds();
    const some = ids.slice(0, 3).map((other) => JSON.stringify(other));
    throw new InputError(
      `no episode ${JSON.stringify(id)} among ${ids.length}: ${some.join(", ")}${ids.length > 3 ? ", …" : ""}`,
      { file: fileLabel(path) },
    );
  } finally {
    await close();
  }
}
