/** Filtering and sorting of the task table, and the order in which `[` and `]` go through it. */
import { taskKey } from "../../../core/record/library.ts";
import type { Place, SortKey, Subset } from "../../url/place.ts";
import type { TaskColumns, TaskSummary } from "../model.ts";

/** Columns that the index gives. */
const VALUES: Record<"sources" | "successes" | "failures" | "episodes", (task: TaskSummary) => number> = {
  sources: (task) => task.sources,
  successes: (task) => task.successes,
  failures: (task) => task.failures,
  episodes: (task) => task.episodes,
};

/** Columns that are counted from the records. */
const COUNTED: Record<
  "states" | "shared" | "matched" | "fallback",
  (task: TaskSummary, columns: TaskColumns) => number
> = {
  states: (task, columns) => columns.states[task.place]!,
  shared: (task, columns) => columns.sharedStates[task.place]!,
  matched: (task, columns) => decisionShare(task, columns.matched),
  fallback: (task, columns) => decisionShare(task, columns.fallback),
};

type Counted = keyof typeof COUNTED;

/** True for a column that can be sorted by only when all tasks are counted. */
export function isCounted(sort: SortKey): sort is Counted {
  return Object.hasOwn(COUNTED, sort);
}

/** A counted column as a share of the student decisions: 0 when there is none, negative when it is not known. */
export function decisionShare(task: TaskSummary, counts: Int32Array): number {
  const count = counts[task.place]!;
  return count < 0 ? count : task.decisions === 0 ? 0 : count / task.decisions;
}

/** The orders and the searched texts of one list of tasks, each made when it is first asked for. */
class TaskOrders {
  readonly #tasks: readonly TaskSummary[];
  readonly #orders = new Map<string, Uint32Array>();
  /** By index: place of the task in the order of the names, which decides ties. */
  #rank: Uint32Array | null = null;
  #texts: string[] | null = null;

  constructor(tasks: readonly TaskSummary[]) {
    this.#tasks = tasks;
  }

  /** Indices of the tasks. A counted column sorts when it is whole; until then the order is that of the names. */
  order(
    wanted: Exclude<SortKey, "delta">,
    wantedDescending: boolean,
    columns: TaskColumns | null,
  ): Uint32Array {
    const known = !isCounted(wanted) || columns !== null;
    const sort = known ? wanted : "task";
    const descending = known && wantedDescending;
    const name = `${sort} ${descending}`;
    let order = this.#orders.get(name);
    if (order === undefined) {
      order = sort === "task" ? this.#byName(descending) : this.#byValue(sort, descending, columns);
      this.#orders.set(name, order);
    }
    return order;
  }

  /** By index: what the filter looks at, in lower case. */
  get texts(): readonly string[] {
    this.#texts ??= this.#tasks.map(({ task, environment, description }) =>
      `${task} ${environment} ${description}`.toLowerCase(),
    );
    return this.#texts;
  }

  #byName(descending: boolean): Uint32Array {
    const names = this.#tasks.map(({ task }) => task);
    const sign = descending ? -1 : 1;
    return Uint32Array.from(names.keys()).sort((a, b) => {
      const [x, y] = [names[a]!, names[b]!];
      return x < y ? -sign : x > y ? sign : a - b;
    });
  }

  #byValue(
    sort: Exclude<SortKey, "task" | "delta">,
    descending: boolean,
    columns: TaskColumns | null,
  ): Uint32Array {
    if (this.#rank === null) {
      this.#rank = new Uint32Array(this.#tasks.length);
      for (const [place, index] of this.order("task", false, columns).entries()) this.#rank[index] = place;
    }
    const rank = this.#rank;
    const values = Float64Array.from(this.#tasks, (task) =>
      isCounted(sort) ? COUNTED[sort](task, columns!) : VALUES[sort](task),
    );
    const sign = descending ? -1 : 1;
    return Uint32Array.from(rank.keys()).sort(
      (a, b) => sign * (values[a]! - values[b]!) || rank[a]! - rank[b]!,
    );
  }
}

const known = new WeakMap<readonly TaskSummary[], TaskOrders>();

/** The columns when every task is counted, else null: nothing can be sorted by a part of them. */
export function wholeColumns(columns: TaskColumns | null): TaskColumns | null {
  return columns !== null && columns.counted >= columns.states.length ? columns : null;
}

/** Of the scored decisions of one task. */
export interface TaskDelta {
  decisions: number;
  tokens: number;
  /** Mean over all their tokens of log p under the graph-conditioned context − log p under the vanilla one, in nats. */
  mean: number;
}

/** What tasks have a mean Δ, by `taskKey`. */
export type ScoredTasks = ReadonlyMap<string, TaskDelta>;

const NO_SCORES: ScoredTasks = new Map();

/** Whether a task belongs to a subset; for fallbacks, as far as they are counted. */
function belongs(task: TaskSummary, show: Subset, columns: TaskColumns | null, scored: ScoredTasks): boolean {
  switch (show) {
    case "all":
      return true;
    case "episodes":
      return task.episodes > 0;
    case "successes":
      return task.successes > 0;
    case "no-success":
      return task.successes === 0;
    case "fallback":
      return (columns?.fallback[task.place] ?? 0) > 0;
    case "scored":
      return scored.has(taskKey(task.environment, task.task));
  }
}

/**
 * The tasks of a subset that have every word of the filter in name or description, in the place's order. A counted column
 * sorts when it is whole. By mean Δ, scored tasks come first, either way.
 */
export function visibleTasks(
  tasks: readonly TaskSummary[],
  columns: TaskColumns | null,
  {
    filter,
    sort,
    descending,
    show = "all",
  }: Pick<Place, "filter" | "sort" | "descending"> & Partial<Pick<Place, "show">>,
  scored: ScoredTasks = NO_SCORES,
): TaskSummary[] {
  let orders = known.get(tasks);
  if (orders === undefined) {
    orders = new TaskOrders(tasks);
    known.set(tasks, orders);
  }
  const words = filter.toLowerCase().split(/\s+/).filter(Boolean);
  const shown: TaskSummary[] = [];
  const order =
    sort === "delta"
      ? orders.order("task", false, null)
      : orders.order(sort, descending, wholeColumns(columns));
  for (const index of order) {
    if (show !== "all" && !belongs(tasks[index]!, show, columns, scored)) continue;
    if (words.length > 0) {
      const text = orders.texts[index]!;
      if (!words.every((word) => text.includes(word))) continue;
    }
    shown.push(tasks[index]!);
  }
  if (sort !== "delta" || scored.size === 0) return shown;
  const delta = (task: TaskSummary) => scored.get(taskKey(task.environment, task.task))?.mean;
  const first = shown.filter((task) => delta(task) !== undefined);
  const rest = shown.filter((task) => delta(task) === undefined);
  const sign = descending ? -1 : 1;
  return [...first.sort((a, b) => sign * (delta(a)! - delta(b)!)), ...rest];
}
