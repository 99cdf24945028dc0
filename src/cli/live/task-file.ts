/** Lists of tasks that a config names by their file. */
import type { InputError } from "../../core/errors.ts";
import type { EnvironmentName } from "../../core/loop/index.ts";
import { OWN_SEEDS_NOTE, readTaskList } from "../../formats/task-list.ts";
import { progress, readText } from "../io.ts";

/** Where the tasks of a list are named: it stays with the list for messages, and is not part of the config. */
const places = new WeakMap<readonly string[], ReadonlyMap<string, InputError["where"]>>();

/** @throws InputError as `readTaskList` does, and for a file that cannot be read */
export async function readTaskFile(file: string, environment: EnvironmentName): Promise<string[]> {
  const { listed, hasSeeds } = readTaskList(await readText(file), environment, file);
  if (hasSeeds) progress(`gcopd: ${file}: ${OWN_SEEDS_NOTE}`);
  const tasks = listed.map(({ task }) => task);
  places.set(tasks, new Map(listed.map(({ task, where }) => [task, where])));
  return tasks;
}

/** Where a list that was read from a file names a task; undefined for a list of the config itself. */
export function placeOfTask(tasks: unknown, task: string): InputError["where"] | undefined {
  return Array.isArray(tasks) ? places.get(tasks)?.get(task) : undefined;
}
