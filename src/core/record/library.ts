/** A library in memory: recorded executions by task. */
import type { Source } from "./schema.ts";

/** D_x: all recorded executions of one task x. */
export interface TaskLibrary {
  environment: string;
  task: string;
  /** In file order. */
  sources: Source[];
}

export interface Library {
  /** In the order in which the file first names them. */
  tasks: TaskLibrary[];
}

/** One string for an environment and a task, to look tasks up by. */
export function taskKey(environment: string, task: string): string {
  return JSON.stringify([environment, task]);
}

/** The tasks of a library by `taskKey`. */
export function indexTasks(library: Library): Map<string, TaskLibrary> {
  return new Map(library.tasks.map((entry) => [taskKey(entry.environment, entry.task), entry]));
}

/** Groups sources by task, keeping the order of both. */
export function groupSources(sources: Iterable<Source>): Library {
  const tasks = new Map<string, TaskLibrary>();
  for (const source of sources) addSource(tasks, source);
  return { tasks: [...tasks.values()] };
}

function addSource(tasks: Map<string, TaskLibrary>, source: Source): void {
  const key = taskKey(source.environment, source.task);
  let entry = tasks.get(key);
  if (entry === undefined) {
    entry = { environment: source.environment, task: source.task, sources: [] };
    tasks.set(key, entry);
  }
  entry.sources.push(source);
}
