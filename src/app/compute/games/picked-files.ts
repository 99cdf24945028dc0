/** Files of a run that are picked in the page: a list of tasks, a prompt template. */
import { environmentRules } from "../../../core/environment/environment.ts";
import { readPromptTemplate } from "../../../core/environment/prompt/template.ts";
import { InputError } from "../../../core/errors.ts";
import { utf8Text } from "../../../core/folder-text.ts";
import { parseJsonText } from "../../../core/json.ts";
import type { EnvironmentName } from "../../../core/loop/live-config.ts";
import { OWN_SEEDS_NOTE, readTaskList } from "../../../formats/task-list.ts";
import type { PathFile } from "../../base/dropped-files.ts";
import type { PickedPrompt } from "../runs/live-run.ts";

/** A list of tasks that was picked. */
export interface PickedTasks {
  /** Of its file. */
  name: string;
  tasks: readonly string[];
  /** What is not used of it; null where all is. */
  note: string | null;
}

/** @throws InputError for several files, and for one that is not UTF-8 */
async function pickedText(files: readonly PathFile[], what: string): Promise<{ name: string; text: string }> {
  const [only] = files;
  if (only === undefined || files.length > 1)
    throw new InputError(`expected one ${what}, received ${files.length} files`);
  const { file, path: name } = only;
  return { name, text: utf8Text(await file.arrayBuffer(), name) };
}

/** @throws InputError as `readTaskList` does, and for several files */
export async function readPickedTasks(
  files: readonly PathFile[],
  environment: EnvironmentName,
): Promise<PickedTasks> {
  const { name, text } = await pickedText(files, "list of tasks");
  const { listed, hasSeeds } = readTaskList(text, environment, name);
  return { name, tasks: listed.map(({ task }) => task), note: hasSeeds ? OWN_SEEDS_NOTE : null };
}

/** @throws InputError as `readPromptTemplate` does, and for several files */
export async function readPickedPrompt(
  files: readonly PathFile[],
  environment: EnvironmentName,
): Promise<PickedPrompt> {
  const { name, text } = await pickedText(files, "prompt template");
  const template = parseJsonText(text, { file: name });
  readPromptTemplate(template, environmentRules(environment).prompt.lists, { file: name });
  return { name, template };
}
