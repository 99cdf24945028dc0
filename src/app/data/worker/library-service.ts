/**
 * Records, retrieval and evidence, off the drawing thread. Several libraries may be open, each by an id of its own; one
 * is open only when it has been read whole without a fault. Kept of each are the places of its records in their files
 * and its recorded scores; tasks are read again when they are asked for.
 */
import * as Comlink from "comlink";
import { customEnvironmentNote, isCustomEnvironment } from "../../../core/environment/environment.ts";
import { InputError } from "../../../core/errors.ts";
import { type GateDecision, type GateSummary, summarizeGate } from "../../../core/gate/index.ts";
import { taskKey } from "../../../core/record/library.ts";
import type { Source } from "../../../core/record/schema.ts";
import { isTrustedSuccess } from "../../../core/record/standing.ts";
import type { UnreadableRecord } from "../../../core/record/unreadable.ts";
import {
  CONTROLS,
  type Selection,
  type SourceSelection,
  selectSources,
} from "../../../core/retrieval/selection.ts";
import {
  ABLATION_BUDGETS,
  type AblationBase,
  AblationCollector,
  type AblationMatrix,
  type EvidenceMeter,
  type LibraryStatistics,
  StatisticsCollector,
} from "../../../core/statistics/index.ts";
import { byteChunks } from "../../../formats/bytes.ts";
import { readLibrary } from "../../../formats/read-files.ts";
import { evidenceMeter } from "../../../text/evidence-meter.ts";
import { Latest } from "../../base/latest.ts";
import type { LibraryLink } from "../../url/library-link.ts";
import { indexBlob, type RecordInput } from "../files/internal/record-file.ts";
import type { NamedBlob } from "../files/path-files.ts";
import type { SharedSource } from "../files/shared-files.ts";
import { ColumnCounter, emptyColumns } from "../library/task-columns.ts";
import type { ColumnBatch, KnownOptimal, LibrarySummary, TaskRef } from "../model.ts";
import {
  type About,
  type Gathered,
  type Gathering,
  gatherFiles,
  gatherFolder,
  gatherImport,
  type ImportChoice,
} from "./gather-library.ts";
import { KeptTasks } from "./kept-tasks.ts";
import { readOptimal } from "./known-optimal.ts";
import { countAll, type OnProgress, throttled } from "./opening.ts";
import type { RecordLibrary } from "./record-library.ts";
import type { RecordedScores } from "./recorded-scores.ts";
import { TaskQuestions } from "./task-questions.ts";

/** Libraries of up to so many bytes are checked in full, and counted, before they are shown. */
const CHECK_WHOLE = 24 << 20;

/** Files from this size on are worth an index beside them, as for the commands. */
const KEEP_FROM = 16 << 20;

interface Opened {
  id: string;
  records: RecordLibrary;
  scores: RecordedScores;
  /** Null where none are known. */
  optimal: KnownOptimal | null;
  /** Planner records that only training reads, by task. */
  plans: ReadonlyMap<string, readonly Source[]>;
  /** Null where all columns were counted on opening. */
  counter: ColumnCounter | null;
}

type OnColumns = (library: string, batch: ColumnBatch) => void;

export class LibraryService {
  readonly #open = new Map<string, Opened>();
  readonly #kept = new KeptTasks();
  /** What is asked of one task; marked for comlink, so that another thread calls its methods, too. */
  readonly tasks = Comlink.proxy(
    new TaskQuestions({
      kept: async (ref, selection) => {
        const { id, records, counter } = this.#of(ref.library);
        counter?.standBack();
        return this.#kept.get(id, records, ref, selection);
      },
      recorded: (library) => this.#of(library).scores,
      plans: ({ library, environment, task }) =>
        this.#of(library).plans.get(taskKey(environment, task)) ?? [],
    }),
  );
  /** Libraries opened so far: their ids are never used again. */
  #made = 0;
  #onColumns: OnColumns = () => {};
  readonly #countings = new Latest();
  #ablating: AbortController | null = null;
  #opening: AbortController | null = null;

  /** Receives newly counted columns. */
  onColumns(emit: OnColumns): void {
    this.#onColumns = emit;
  }

  /**
   * Reads files and opens them as one library beside those that are open. `scores` are lines of `{ id, logprobs }`.
   * Throws `InputError`, or an AbortError when it was stopped; nothing new is open then.
   */
  async open(
    inputs: readonly RecordInput[],
    scores: readonly { name: string; blob: Blob }[],
    about: Pick<About, "title" | "origin"> & { link: LibraryLink | null },
    onProgress: OnProgress,
    fetcher?: typeof fetch,
  ): Promise<LibrarySummary> {
    const by = fetcher === undefined ? {} : { fetch: fetcher };
    return this.#opened(onProgress, (gathering) =>
      gatherFiles(inputs, scores, about, { ...gathering, ...by }),
    );
  }

  /**
   * Reads other programs' recordings, as `gcopd import` does, and opens them as one library beside those that are open.
   * Throws `InputError` when the format is not known or the first fault is met; nothing new is open then.
   */
  async import(
    entries: readonly NamedBlob[],
    onProgress: OnProgress,
    choice: ImportChoice = {},
  ): Promise<LibrarySummary> {
    return this.#opened(onProgress, (gathering) => gatherImport(entries, { ...gathering, ...choice }));
  }

  /**
   * Opens a folder of the worker's disk as if it had been dropped: the records of our own format in it, read by ranges,
   * with lists of scores; or, where there are none, other programs' recordings. Throws as `open` and `import` do.
   */
  async openFolder(
    source: SharedSource,
    folder: string,
    link: LibraryLink,
    onProgress: OnProgress,
    choice: ImportChoice = {},
  ): Promise<LibrarySummary> {
    return this.#opened(onProgress, (gathering) =>
      gatherFolder(source, folder, link, { ...gathering, ...choice }),
    );
  }

  /** Stops an opening that is under way. */
  stopOpening(): void {
    this.#opening?.abort(new DOMException("the opening was stopped", "AbortError"));
  }

  async #opened(
    onProgress: OnProgress,
    gather: (gathering: Gathering) => Promise<Gathered>,
  ): Promise<LibrarySummary> {
    const controller = new AbortController();
    this.#opening = controller;
    try {
      const gathering = { signal: controller.signal, tell: throttled(onProgress) };
      return await this.#add(await gather(gathering), gathering);
    } finally {
      this.#opening = null;
    }
  }

  async #add({ records, scores, about }: Gathered, { tell, signal }: Gathering): Promise<LibrarySummary> {
    const small = records.bytes <= CHECK_WHOLE && !records.remote;
    const columns = small ? await countAll(records, tell, signal) : emptyColumns(records.tasks.length);
    signal.throwIfAborted();
    this.#made += 1;
    const id = `library-${this.#made}`;
    const counter = small ? null : new ColumnCounter(records, (batch) => this.#onColumns(id, batch));
    this.#open.set(id, { id, records, scores, optimal: null, plans: new Map(), counter });
    const environments = new Set(records.tasks.map(({ environment }) => environment));
    return {
      id,
      ...about,
      files: records.fileSummaries,
      tasks: records.tasks,
      columns,
      remote: records.remote,
      bytes: records.bytes,
      indices: records.files.map(({ name, indexed, original, reader }) => ({
        file: name,
        from: indexed,
        keep: original && indexed === "built" && reader.size >= KEEP_FROM,
      })),
      recordedScores: scores.count,
      environmentNotes: [...environments].filter(isCustomEnvironment).map(customEnvironmentNote),
    };
  }

  /**
   * Takes the optimal actions of a library's decisions, in the place of those that it had.
   *
   * @throws InputError for a file that is none, and for a line that names no decision of the library
   */
  async addOptimal(library: string, file: string, blob: Blob): Promise<KnownOptimal> {
    const opened = this.#of(library);
    opened.optimal = await readOptimal(blob, file, opened.records);
    return opened.optimal;
  }

  /**
   * Takes planner records of a library's tasks, which `TaskQuestions.sources` gives when it is asked for them.
   *
   * @throws InputError for a file with anything but source records
   */
  async addPlans(library: string, file: string, blob: Blob): Promise<void> {
    const { tasks } = await readLibrary(byteChunks(blob.stream()), { file });
    this.#of(library).plans = new Map(
      tasks.map(({ environment, task, sources }) => [taskKey(environment, task), sources]),
    );
  }

  /** Decisions of a library whose optimal actions are known; null where no file said so. */
  optimal(library: string): KnownOptimal | null {
    return this.#of(library).optimal;
  }

  /** Figures of scored decisions: the intervals take their time. */
  gateSummary(decisions: readonly GateDecision[], seed: number): GateSummary {
    return summarizeGate(decisions, seed);
  }

  /** How many tasks of a library have a trusted success among the sampled sources of each selection. */
  async coverage(
    library: string,
    selections: readonly SourceSelection[],
  ): Promise<{ tasks: number; covered: number[] }> {
    const { records } = this.#of(library);
    const covered = selections.map(() => 0);
    for (let place = 0; place < records.tasks.length; place++) {
      const { sources } = await records.read(place, () => {});
      for (const [n, selection] of selections.entries())
        if (selectSources(sources, { ...selection, augmentation: false }).some(isTrustedSuccess))
          covered[n]! += 1;
    }
    return { tasks: records.tasks.length, covered };
  }

  /** Counting goes on for this one and pauses for the others. */
  show(library: string): void {
    for (const { id, counter } of this.#open.values()) counter?.pause(id !== library);
  }

  /** Lets go of all that is kept of a library. */
  close(library: string): void {
    this.#open.get(library)?.counter?.end();
    this.#open.delete(library);
    this.#kept.forget(library);
  }

  /** The tasks in sight, by place: their columns are counted next. */
  countColumns(library: string, places: readonly number[]): void {
    this.#open.get(library)?.counter?.want(places);
  }

  /** The columns of all tasks are wanted. */
  countAllColumns(library: string): void {
    this.#open.get(library)?.counter?.wantAll();
  }

  /** The index of one of a library's files, as `gcopd index` writes it. Throws `InputError` when it is not open. */
  async indexFile(library: string, name: string): Promise<Blob> {
    const { files } = this.#of(library).records;
    const file = files.find((each) => each.name === name && each.original);
    if (file === undefined) throw new InputError("is not open any more", { file: name });
    return indexBlob(file);
  }

  /**
   * The paper's figures of a whole library, under a selection; evidence in tokens when a tokenizer is open. Records that
   * cannot be read are listed with the reason, and all others counted. Another call, closing the library and `stopStatistics` end it with an AbortError.
   */
  async statistics(
    id: string,
    selection: Selection,
    onProgress: (tasks: number) => void,
  ): Promise<LibraryStatistics> {
    const { records: library } = this.#of(id);
    const isLatest = this.#countings.begin();
    const collector = new StatisticsCollector({ selection, meter: this.#meter(library) });
    let slice = 0;
    for (let place = 0; place < library.tasks.length; place++) {
      const unreadable: UnreadableRecord[] = [];
      const records = await library.read(place, (record) => unreadable.push(record));
      collector.add({ ...records, unreadable });
      if (performance.now() - slice < 12) continue;
      onProgress(place);
      // Other questions to this worker are answered in between.
      await new Promise((resolve) => setTimeout(resolve));
      if (!isLatest() || !this.#open.has(id)) {
        throw new DOMException("the counting was stopped", "AbortError");
      }
      slice = performance.now();
    }
    return collector.result();
  }

  stopStatistics(): void {
    this.#countings.end();
  }

  /**
   * The ablation matrix of a library, or of one of its tasks; evidence in tokens when a tokenizer is open. `onProgress` gets
   * the share that is done. Another call, closing the library and `stopAblation` end it with an AbortError.
   */
  async ablation(
    id: string,
    task: TaskRef | null,
    base: AblationBase,
    onProgress: (share: number) => void,
  ): Promise<AblationMatrix> {
    const { records: library } = this.#of(id);
    this.#ablating?.abort();
    const controller = new AbortController();
    this.#ablating = controller;
    const { signal } = controller;
    const meter = this.#meter(library);
    const collector = new AblationCollector(task === null ? "task" : "episode", { ...base, meter });
    const places = library.tasks.flatMap((each, place) =>
      task === null || (each.task === task.task && each.environment === task.environment) ? [place] : [],
    );
    let slice = performance.now();
    const rest = async (share: number): Promise<void> => {
      if (performance.now() - slice < 12) return;
      onProgress(share);
      // Other questions to this worker are answered in between.
      await new Promise((resolve) => setTimeout(resolve));
      signal.throwIfAborted();
      if (!this.#open.has(id)) throw new DOMException("the library was closed", "AbortError");
      slice = performance.now();
    };
    for (const [done, place] of places.entries()) {
      const records = await library.read(place, () => {});
      const cells = ABLATION_BUDGETS.length * CONTROLS.length * Math.max(1, records.episodes.length);
      let counted = 0;
      for (const _ of collector.add(records)) await rest((done + ++counted / cells) / places.length);
    }
    const result = collector.result();
    for (let next = result.next(); ; next = result.next()) {
      if (next.done) return next.value;
      await rest(1);
    }
  }

  stopAblation(): void {
    this.#ablating?.abort();
  }

  #meter(library: RecordLibrary): EvidenceMeter {
    return evidenceMeter(this.tasks.tokenizers.tokenizer, ({ episode }) => library.placeOfEpisode(episode));
  }

  #of(library: string): Opened {
    const opened = this.#open.get(library);
    if (opened === undefined) throw new InputError("the library is not open any more");
    return opened;
  }
}
