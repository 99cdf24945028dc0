/**
 * Tasks read back and prepared, the latest few of all open libraries: the one that is looked at, and its neighbours while
 * one steps through. A library that is not shown keeps its offsets alone: its prepared tasks go as others are read.
 */
import { environmentRules } from "../../../core/environment/environment.ts";
import { Lru } from "../../../core/lru.ts";
import { taskKey } from "../../../core/record/library.ts";
import { type PreparedTask, prepareTask } from "../../../core/retrieval/index.ts";
import { type SourceSelection, selectSources, sourcesKey } from "../../../core/retrieval/selection.ts";
import type { TaskName } from "../model.ts";
import type { RecordLibrary, TaskRecords } from "./record-library.ts";

export interface KeptTask {
  records: TaskRecords;
  prepared: PreparedTask;
}

const MOST_KEPT = 4;

export class KeptTasks {
  readonly #kept = new Lru<Promise<KeptTask>>(MOST_KEPT);

  /** A task of the library with that id, with the sources of a selection. Throws `InputError` when it has none with that name. */
  get(id: string, library: RecordLibrary, ref: TaskName, selection: SourceSelection): Promise<KeptTask> {
    const key = JSON.stringify([id, taskKey(ref.environment, ref.task), sourcesKey(selection)]);
    const task = this.#kept.getOrMake(key, () => read(library, ref, selection));
    // What could not be read once may be read the next time.
    task.catch(() => {
      if (this.#kept.get(key) === task) this.#kept.delete(key);
    });
    return task;
  }

  /** Drops the tasks of a library that was closed. */
  forget(id: string): void {
    for (const key of this.#kept.keys()) if (JSON.parse(key)[0] === id) this.#kept.delete(key);
  }
}

async function read(library: RecordLibrary, ref: TaskName, selection: SourceSelection): Promise<KeptTask> {
  const records = await library.read(library.find(ref));
  const sources = selectSources(records.sources, selection);
  return { records, prepared: prepareTask(sources, environmentRules(ref.environment)) };
}
