/** The columns of the library table that need the records themselves: states, shared states, matched decisions, fallbacks. */
import { environmentRules } from "../../../core/environment/environment.ts";
import { InputError } from "../../../core/errors.ts";
import { nodeAt, taskGraph } from "../../../core/graph/index.ts";
import { hasPrompt } from "../../../core/record/schema.ts";
import { prepareTask, retrieveEpisode } from "../../../core/retrieval/index.ts";
import { selectSources } from "../../../core/retrieval/selection.ts";
import { describeFault } from "../../base/faults.ts";
import type { ColumnBatch, TaskColumns } from "../model.ts";
import type { RecordLibrary, TaskRecords } from "../worker/record-library.ts";

/** Not counted yet. */
export const UNCOUNTED = -1;
/** The task has a record that cannot be read. */
export const UNREADABLE = -2;

export interface TaskCounts {
  /** Distinct locators, over all executions. */
  states: number;
  /** Those visited by at least two distinct executions. */
  sharedStates: number;
  /** Student decisions with at least one matched visit: I_x(z_t) is not empty. */
  matched: number;
  /**
   * Student decisions whose successful reference is a fallback, under the full method: no visit of a successful source was
   * found at this or an earlier state, and a whole record is retained instead.
   */
  fallback: number;
  /** Student decisions that were recorded with their prompt. */
  prompted: number;
}

/** Figures of a task in a batch of columns. */
export const COUNTS = 5;

/** A task's figures in the order of a batch. */
export const countsRow = ({ states, sharedStates, matched, fallback, prompted }: TaskCounts): number[] => [
  states,
  sharedStates,
  matched,
  fallback,
  prompted,
];

export function countTask({ environment, sources, episodes }: Omit<TaskRecords, "task">): TaskCounts {
  const graph = taskGraph(sources);
  let matched = 0;
  let fallback = 0;
  let prompted = 0;
  const prepared =
    episodes.length === 0 ? null : prepareTask(selectSources(sources, {}), environmentRules(environment));
  for (const episode of episodes) {
    for (const decision of episode.decisions) {
      if (nodeAt(graph, decision.state) !== null) matched++;
      if (hasPrompt(decision)) prompted++;
    }
    for (const { record } of retrieveEpisode(prepared!, episode)) {
      const relation = record.success?.relation;
      if (relation === "unaligned" || relation === "unverified") fallback++;
    }
  }
  return {
    states: graph.nodes.length,
    sharedStates: graph.nodes.filter((node) => node.sources.length > 1).length,
    matched,
    fallback,
    prompted,
  };
}

/** No task counted. */
export function emptyColumns(tasks: number): TaskColumns {
  const column = () => new Int32Array(tasks).fill(UNCOUNTED);
  const columns = { states: column(), sharedStates: column(), matched: column(), fallback: column() };
  return { counted: 0, ...columns, prompted: column(), problem: null, brokeOff: null };
}

/** Takes a batch over, in place; the result is another object around the same columns. */
export function withBatch(
  columns: TaskColumns,
  { places, counts, problem, brokeOff }: ColumnBatch,
): TaskColumns {
  let counted = columns.counted;
  places.forEach((place, i) => {
    if (columns.states[place] === UNCOUNTED) counted++;
    const at = COUNTS * i;
    columns.states[place] = counts[at]!;
    columns.sharedStates[place] = counts[at + 1]!;
    columns.matched[place] = counts[at + 2]!;
    columns.fallback[place] = counts[at + 3]!;
    columns.prompted[place] = counts[at + 4]!;
  });
  return { ...columns, counted, problem: columns.problem ?? problem, brokeOff };
}

/** The thread is given back after so many milliseconds of counting. */
const SLICE = 12;
/** Milliseconds between two batches. */
const BATCH = 200;
/** Milliseconds that counting waits after somebody asked for something. */
const COURTESY = 250;

const pause = (milliseconds = 0) => new Promise<void>((resolve) => setTimeout(resolve, milliseconds));

/** A fault of a record names its line; one of fetching it has none, and may be gone the next time. */
const isOfRecord = (error: unknown): boolean => error instanceof InputError && error.where.line !== undefined;

/**
 * Counts the tasks of one library in the background: those in sight first, then, where that is wanted, all others.
 * It breaks off where records cannot be fetched, and goes on when tasks are asked for again.
 */
export class ColumnCounter {
  readonly #library: RecordLibrary;
  readonly #done: Uint8Array;
  readonly #emit: (batch: ColumnBatch) => void;
  #wanted: readonly number[] = [];
  #all = false;
  #next = 0;
  #running = false;
  #ended = false;
  #paused = false;
  #asked = 0;

  constructor(library: RecordLibrary, emit: (batch: ColumnBatch) => void) {
    this.#library = library;
    this.#done = new Uint8Array(library.tasks.length);
    this.#emit = emit;
  }

  /** These are in sight. */
  want(places: readonly number[]): void {
    this.#wanted = places;
    void this.#run();
  }

  /** All are wanted. */
  wantAll(): void {
    this.#all = true;
    void this.#run();
  }

  /** Something more urgent is waiting: counting pauses for a moment. */
  standBack(): void {
    this.#asked = performance.now();
  }

  end(): void {
    this.#ended = true;
  }

  /** Stands still while another library is shown, and goes on where it was. */
  pause(paused: boolean): void {
    this.#paused = paused;
    if (!paused) void this.#run();
  }

  /** The next place to count, or undefined. */
  #take(): number | undefined {
    const wanted = this.#wanted.find((place) => this.#done[place] === 0);
    if (wanted !== undefined) return wanted;
    if (!this.#all) return undefined;
    while (this.#next < this.#done.length && this.#done[this.#next] !== 0) this.#next++;
    return this.#next < this.#done.length ? this.#next : undefined;
  }

  async #run(): Promise<void> {
    if (this.#running) return;
    this.#running = true;
    let places: number[] = [];
    let counts: number[] = [];
    let problem: string | null = null;
    let brokeOff: string | null = null;
    let sent = performance.now();
    let slice = sent;
    const flush = (): void => {
      if ((places.length > 0 || brokeOff !== null) && !this.#ended) {
        this.#emit({ places: Uint32Array.from(places), counts: Int32Array.from(counts), problem, brokeOff });
      }
      places = [];
      counts = [];
      sent = performance.now();
    };
    for (
      let place = this.#take();
      place !== undefined && !this.#ended && !this.#paused;
      place = this.#take()
    ) {
      this.#done[place] = 1;
      let records: TaskRecords | null = null;
      try {
        records = await this.#library.read(place);
        counts.push(...countsRow(countTask(records)));
      } catch (error) {
        if (records === null && !isOfRecord(error)) {
          this.#done[place] = 0;
          brokeOff = describeFault(error);
          break;
        }
        problem ??= describeFault(error);
        counts.push(...Array<number>(COUNTS).fill(UNREADABLE));
      }
      places.push(place);
      const now = performance.now();
      if (now - sent > BATCH) flush();
      if (now - slice > SLICE) {
        await pause();
        while (performance.now() - this.#asked < COURTESY && !this.#ended) await pause(50);
        slice = performance.now();
      }
    }
    flush();
    this.#running = false;
  }
}
