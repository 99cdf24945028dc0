import { InputError } from "../../core/errors.ts";
import { utf8Text } from "../../core/folder-text.ts";
import type { EnvironmentName } from "../../core/loop/live-config.ts";
import { OWN_SEEDS_NOTE, readTaskList } from "../../core/loop/task-list.ts";
import type { PathFile } from "../shell/dropped-files.ts";

/** A list of tasks that was picked. */
export interface PickedTasks {
  /** Of its file. */
  name: string;
  tasks: readonly string[];
  /** What is not used of it; null where all is. */
  note: string | null;
}

/** @throws InputError as `readTaskList` does, and for several files */
export async function readPickedTasks(
  files: readonly PathFile[],
  environment: EnvironmentName,
): Promise<PickedTasks> {
  const [only] = files;
  if (only === undefined || files.length > 1)
    throw new InputError(`expected one list of tasks, received ${files.length} files`);
  const { file, path: name } = only;
  const { listed, hasSeeds } = readTaskList(utf8Text(await file.arrayBuffer(), name), environment, name);
  return { name, tasks: listed.map(({ task }) => task), note: hasSeeds ? OWN_SEEDS_NOTE : null };
}
