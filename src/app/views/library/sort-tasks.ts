/** Filtering and sorting of the task table, and the order in which `[` and `]` go through it. */
import type { TaskSummary } from "../../model.ts";
import type { Place, SortKey } from "../../place/place.ts";

const VALUES: Record<SortKey, (task: TaskSummary) => string | number> = {
  task: (task) => task.task,
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

/** The tasks that the place's filter leaves (every word, in name or description), in the place's order. */
export function visibleTasks(
  tasks: readonly TaskSummary[],
  { filter, sort, descending }: Pick<Place, "filter" | "sort" | "descending">,
): TaskSummary[] {
  const words = filter.toLowerCase().split(/\s+/).filter(Boolean);
  const value = VALUES[sort];
  const sign = descending ? -1 : 1;
  return tasks
    .filter(({ task, environment, description }) => {
      const text = `${task} ${environment} ${description}`.toLowerCase();
      return words.every((word) => text.includes(word));
    })
    .sort((a, b) => {
      const [x, y] = [value(a), value(b)];
      if (x !== y) return x < y ? -sign : sign;
      return a.task < b.task ? -1 : a.task > b.task ? 1 : 0;
    });
}
