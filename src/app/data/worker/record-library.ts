/** The open library: files of sources, of episodes or of both as one list of tasks, read one task at a time. */
import { environmentRules } from "../../../core/environment/environment.ts";
import { InputError } from "../../../core/errors.ts";
import { taskKey } from "../../../core/record/library.ts";
import type { Episode, Source } from "../../../core/record/schema.ts";
import type { OnUnreadable } from "../../../core/record/unreadable.ts";
import { exclusion } from "../../../core/retrieval/admission.ts";
import type { RecordEntry } from "../../../formats/indexed/index.ts";
import type { RecordFile } from "../files/internal/record-file.ts";
import type { FileSummary, TaskName, TaskSummary } from "../model.ts";

/** The records of one task, in the order of the files. */
export interface TaskRecords extends TaskName {
  sources: Source[];
  episodes: Episode[];
}

/** Where a task lies: place in `IndexedLibrary.tasks` of one of the files. */
interface Part {
  file: RecordFile;
  place: number;
}

export class RecordLibrary {
  readonly files: readonly RecordFile[];
  /** In the order in which the files first name them. */
  readonly tasks: readonly TaskSummary[];
  readonly #parts: Part[][] = [];
  readonly #places = new Map<string, number>();

  /**
   * Joins files. `InputError` when two name the same record, and when there is neither a source nor an episode; `name`
   * stands for the files then.
   */
  constructor(files: readonly RecordFile[]) {
    this.files = files;
    for (const file of files) {
      for (const [place, entry] of file.library.tasks.entries()) {
        const key = taskKey(entry.environment, entry.task);
        let at = this.#places.get(key);
        if (at === undefined) {
          at = this.#parts.length;
          this.#places.set(key, at);
          this.#parts.push([]);
        }
        this.#parts[at]!.push({ file, place });
      }
    }
    if (this.#parts.length === 0) {
      throw new InputError("no record in it: expected lines of gcopd.source.v1 or gcopd.episode.v1", {
        file: files.map((file) => file.name).join(", "),
      });
    }
    if (files.length > 1) this.#checkUnique();
    this.tasks = this.#parts.map(summary);
  }

  /** Ids are unique in each file; here across files. */
  #checkUnique(): void {
    const episodes = new Map<string, string>();
    for (const parts of this.#parts) {
      const sources = new Map<string, string>();
      for (const { file, place } of parts) {
        const entry = file.library.tasks[place]!;
        const unique = (kind: string, seen: Map<string, string>, { id, line }: RecordEntry): void => {
          const before = seen.get(id);
          if (before !== undefined) {
            throw new InputError(`${kind} ${id} was already in ${before}`, { file: file.name, line });
          }
          seen.set(id, `${file.name}, line ${line}`);
        };
        for (const source of entry.sources) unique("source", sources, source);
        for (const episode of entry.episodes) unique("episode", episodes, episode);
      }
    }
  }

  /** True when reading goes over the network. */
  get remote(): boolean {
    return this.files.some((file) => file.remote);
  }

  /** Bytes of all records, unpacked. */
  get bytes(): number {
    return this.files.reduce((sum, file) => sum + file.reader.size, 0);
  }

  get fileSummaries(): FileSummary[] {
    return this.files.flatMap(({ name, library, reader }) =>
      (["sources", "episodes"] as const)
        .filter((kind) => library.counts[kind] > 0)
        .map((kind) => ({ name, kind, records: library.counts[kind], bytes: reader.size })),
    );
  }

  /** Decisions of an episode, or undefined where there is none with that name. */
  episodeDecisions(): Map<string, number> {
    const found = new Map<string, number>();
    for (const { library } of this.files) {
      for (const { episodes } of library.tasks)
        for (const { id, decisions } of episodes) found.set(id, decisions);
    }
    return found;
  }

  /** Task and number of decisions of each episode, by its id. */
  episodePlaces(): Map<string, TaskName & { decisions: number }> {
    const found = new Map<string, TaskName & { decisions: number }>();
    for (const { library } of this.files)
      for (const { environment, task, episodes } of library.tasks)
        for (const { id, decisions } of episodes) found.set(id, { environment, task, decisions });
    return found;
  }

  /** File and line of an episode; undefined where there is none with that name. */
  placeOfEpisode(id: string): string | undefined {
    for (const { name, library } of this.files) {
      for (const { episodes } of library.tasks) {
        const found = episodes.find((each) => each.id === id);
        if (found !== undefined) return `${name}, line ${found.line}`;
      }
    }
    return undefined;
  }

  /** Place of a task in `tasks`. `InputError` where there is none with that name. */
  find(ref: TaskName): number {
    const place = this.#places.get(taskKey(ref.environment, ref.task));
    if (place === undefined) throw new InputError(`the library has no task ${ref.task}`);
    return place;
  }

  /**
   * Reads one task, checked in full. `InputError` for a record that is not the indexed one, and for a damaged one unless
   * `onUnreadable` takes it.
   */
  async read(place: number, onUnreadable?: OnUnreadable): Promise<TaskRecords> {
    const { environment, task } = this.tasks[place]!;
    const parts = await Promise.all(
      this.#parts[place]!.map(async ({ file, place: at }) => ({
        sources: await file.library.readTask(at, onUnreadable),
        episodes: await file.library.readEpisodes(at, onUnreadable),
      })),
    );
    return {
      environment,
      task,
      sources: parts.flatMap(({ sources }) => sources),
      episodes: parts.flatMap(({ episodes }) => episodes),
    };
  }
}

/** A row of the library table, as far as the indices know it. */
function summary(parts: readonly Part[], place: number): TaskSummary {
  const entries = parts.map(({ file, place: at }) => file.library.tasks[at]!);
  const sources = entries.flatMap((entry) => entry.sources);
  const episodes = entries.flatMap((entry) => entry.episodes);
  const { environment, task } = entries[0]!;
  const rules = environmentRules(environment);
  const count = (list: readonly RecordEntry[], pick: (entry: RecordEntry) => boolean): number =>
    list.reduce((sum, entry) => sum + (pick(entry) ? 1 : 0), 0);
  const successes = count(sources, ({ success }) => success);
  const unknown = count(sources, ({ success, outcome_unknown }) => !success && outcome_unknown === true);
  return {
    place,
    environment,
    task,
    description: entries.find((entry) => entry.sources.length > 0)?.description ?? entries[0]!.description,
    sources: sources.length,
    admitted: count(sources, (entry) => exclusion({ origin: "other", ...entry }, rules) === null),
    successes,
    failures: sources.length - successes - unknown,
    unknown,
    episodes: episodes.length,
    episodesWon: count(episodes, ({ success }) => success),
    decisions: episodes.reduce((sum, { decisions }) => sum + decisions, 0),
  };
}
