/** The controls of a selection under the names that files have for them: training configs and what-if records. */
import type { Selection } from "./selection.ts";
import type { LibrarySubset } from "./subset.ts";
import type { Control } from "./types.ts";

export interface SubsetKeys {
  success_tasks?: number;
  failures?: number;
  seed?: number;
}

/** A key that is absent leaves its control as the method has it. */
export interface SelectionKeys {
  control?: Control;
  sources_per_task?: number;
  augmentation?: boolean;
  subset?: SubsetKeys;
  terminal_failure_note?: boolean;
}

/** The controls that a file has. What is absent stays absent. */
export function selectionOfKeys(keys: SelectionKeys): Selection {
  const { control, sources_per_task, augmentation, subset, terminal_failure_note } = keys;
  return {
    ...(control === undefined ? {} : { control }),
    ...(sources_per_task === undefined ? {} : { sourcesPerTask: sources_per_task }),
    ...(augmentation === undefined ? {} : { augmentation }),
    ...(subset === undefined ? {} : { subset: subsetOfKeys(subset) }),
    ...(terminal_failure_note === undefined ? {} : { terminalFailureNote: terminal_failure_note }),
  };
}

/** The inverse of `selectionOfKeys`. */
export function keysOfSelection(selection: Selection): SelectionKeys {
  const { control, sourcesPerTask, augmentation, subset, terminalFailureNote } = selection;
  return {
    ...(control === undefined ? {} : { control }),
    ...(sourcesPerTask === undefined ? {} : { sources_per_task: sourcesPerTask }),
    ...(augmentation === undefined ? {} : { augmentation }),
    ...(subset === undefined ? {} : { subset: keysOfSubset(subset) }),
    ...(terminalFailureNote === undefined ? {} : { terminal_failure_note: terminalFailureNote }),
  };
}

function subsetOfKeys({ success_tasks, failures, seed }: SubsetKeys): LibrarySubset {
  return {
    ...(success_tasks === undefined ? {} : { successTasks: success_tasks }),
    ...(failures === undefined ? {} : { failures }),
    ...(seed === undefined ? {} : { seed }),
  };
}

function keysOfSubset({ successTasks, failures, seed }: LibrarySubset): SubsetKeys {
  return {
    ...(successTasks === undefined ? {} : { success_tasks: successTasks }),
    ...(failures === undefined ? {} : { failures }),
    ...(seed === undefined ? {} : { seed }),
  };
}
