/** Names of ScienceWorld's tasks, as records write them: `boil|1|easy`. */
import { InputError } from "../../errors.ts";

/** One of the simulator's tasks. */
export interface ScienceTask {
  name: string;
  variation: number;
  simplification: string;
}

/** A task of the simulator, with the number of its variations. */
export interface TaskVariations {
  name: string;
  variations: number;
}

/** @throws InputError for a name of another form */
export function readTask(task: string): ScienceTask {
  const [, name, variation, simplification] = /^([a-z0-9-]+)\|(\d{1,6})\|([a-zA-Z,]*)$/.exec(task) ?? [];
  if (name === undefined || simplification === undefined)
    throw new InputError(
      `expected TASK|VARIATION|SIMPLIFICATION as in boil|1|easy, received ${JSON.stringify(task)}`,
      { key: "task" },
    );
  return { name, variation: Number(variation), simplification };
}

/** @throws InputError for a task of another form, and one that is not among a simulator's own */
export function checkTask(task: string, all: readonly TaskVariations[]): void {
  const { name, variation } = readTask(task);
  const found = all.find((each) => each.name === name);
  if (found === undefined)
    throw new InputError(`${task}: ScienceWorld has no task ${JSON.stringify(name)}`, { key: "task" });
  if (variation >= found.variations)
    throw new InputError(`${task}: the variations of ${name} are 0 to ${found.variations - 1}`, {
      key: "task",
    });
}
