/** Summaries of libraries and tasks as the page keeps them, of as little as a test has to say. */
import { emptyColumns } from "../../src/app/data/library/task-columns.ts";
import type { LibrarySummary, TaskSummary } from "../../src/app/data/model.ts";

/** A task without records. */
export const taskSummary = (task: string, place: number, more: Partial<TaskSummary> = {}): TaskSummary => ({
  place,
  environment: "scienceworld",
  task,
  description: "",
  sources: 0,
  admitted: 0,
  successes: 0,
  failures: 0,
  unknown: 0,
  episodes: 0,
  episodesWon: 0,
  decisions: 0,
  ...more,
});

/** A library whose tasks are not counted yet. */
export function librarySummary(
  link: LibrarySummary["link"],
  tasks: TaskSummary[],
  more: Partial<LibrarySummary> = {},
): LibrarySummary {
  return {
    id: "library-1",
    link,
    title: "own",
    origin: link.library === "sample" ? "sample" : "own",
    files: [],
    tasks,
    columns: emptyColumns(tasks.length),
    remote: false,
    bytes: 0,
    indices: [],
    notes: [],
    recordedScores: 0,
    imported: null,
    environmentNotes: [],
    ...more,
  };
}
