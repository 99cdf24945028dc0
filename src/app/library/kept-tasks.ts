/** Tasks read back and prepared, the latest few: the one that is looked at, and its neighbours while one steps through. */
import { environmentRules } from "../../core/environment/environment.ts";
import { taskKey } from "../../core/record/library.ts";
import { type PreparedTask, prepareTask } from "../../core/retrieval/index.ts";
import { type SourceSelection, selectSources } from "../../core/retrieval/selection.ts";
import type { TaskRef } from "../model.ts";
import { sourcesKey } from "../place/what-if.ts";
import type { RecordLibrary, TaskRecords } from "./record-library.ts";

export interface KeptTask {
  records: TaskRecords;
  prepared: PreparedTask;
}

const MOST_KEPT = 4;

export class KeptTasks {
  /** In the order of their last use. */
  readonly #kept = new Map<string, Promise<KeptTask>>();
  readonly #library: RecordLibrary;

  constructor(library: RecordLibrary) {
    this.#library = library;
  }

  /** A task with the sources of a selection. Throws `InputError` when there is no task of that name. */
  get(ref: TaskRef, selection: SourceSelection): Promise<KeptTask> {
    const key = JSON.stringify([taskKey(ref.environment, ref.task), sourcesKey(selection)]);
    const task = this.#kept.get(key) ?? this.#read(ref, selection);
    this.#kept.delete(key);
    this.#kept.set(key, task);
    // What could not be read once may be read the next time.
    task.catch(() => this.#kept.delete(key));
    if (this.#kept.size > MOST_KEPT) this.#kept.delete(this.#kept.keys().next().value!);
    return task;
  }

  async #read(ref: TaskRef, selection: SourceSelection): Promise<KeptTask> {
    const records = await this.#library.read(this.#library.find(ref));
    const sources = selectSources(records.sources, selection);
    return { records, prepared: prepareTask(sources, environmentRules(ref.environment)) };
  }
}
