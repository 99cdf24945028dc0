/** Filtering and sorting of the task table, and the order in which `[` and `]` go through it. */
import type { TaskSummary } from "../../model.ts";
import type { Place, SortKey } from "../../place/place.ts";

const VALUES: Record<Exclude<SortKey, "task">, (task: TaskSummary) => number> = {
  sources: (task) => task.sources,
  successes: (task) => task.successes,
  failures: (task) => task.failures,
  states: (task) => task.states,
  shared: (task) => task.sharedStates,
  episodes: (task) => task.episodes,
  matched: matchedShare,
};

/** Share of student decisions with a matched visit, 0 when there is no decision. */
export function matchedShare(task: TaskSummary): number {
  return task.decisions === 0 ? 0 : task.matchedDecisions / task.decisions;
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

  /** Indices of the tasks. */
  order(sort: SortKey, descending: boolean): Uint32Array {
    const name = `${sort} ${descending}`;
    let order = this.#orders.get(name);
    if (order === undefined) {
      order = sort === "task" ? this.#byName(descending) : this.#byValue(sort, descending);
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

  #byValue(sort: Exclude<SortKey, "task">, descending: boolean): Uint32Array {
    if (this.#rank === null) {
      this.#rank = new Uint32Array(this.#tasks.length);
      for (const [place, index] of this.order("task", false).entries()) this.#rank[index] = place;
    }
    const rank = this.#rank;
    const values = Float64Array.from(this.#tasks, VALUES[sort]);
    const sign = descending ? -1 : 1;
    return Uint32Array.from(rank.keys()).sort(
      (a, b) => sign * (values[a]! - values[b]!) || rank[a]! - rank[b]!,
    );
  }
}

const known = new WeakMap<readonly TaskSummary[], TaskOrders>();

/** The tasks that the place's filter leaves (every word, in name or description), in the place's order. */
export function visibleTasks(
  tasks: readonly TaskSummary[],
  { filter, sort, descending }: Pick<Place, "filter" | "sort" | "descending">,
): TaskSummary[] {
  let orders = known.get(tasks);
  if (orders === undefined) {
    orders = new TaskOrders(tasks);
    known.set(tasks, orders);
  }
  const words = filter.toLowerCase().split(/\s+/).filter(Boolean);
  const shown: TaskSummary[] = [];
  for (const index of orders.order(sort, descending)) {
    if (words.length > 0) {
      const text = orders.texts[index]!;
      if (!words.every((word) => text.includes(word))) continue;
    }
    shown.push(tasks[index]!);
  }
  return shown;
}
