/** The controls of a selection under the names that files have for them: training configs and what-if records. */
import type { Selection } from "./selection.ts";
import type { Control } from "./types.ts";

/** A key that is absent leaves its control as the method has it. */
export interface SelectionKeys {
  control?: Control;
  sources_per_task?: number;
  augmentation?: boolean;
  terminal_failure_note?: boolean;
}

/** The controls that a file has. What is absent stays absent. */
export function selectionOfKeys(keys: SelectionKeys): Selection {
  const { control, sources_per_task, augmentation, terminal_failure_note } = keys;
  return {
    ...(control === undefined ? {} : { control }),
    ...(sources_per_task === undefined ? {} : { sourcesPerTask: sources_per_task }),
    ...(augmentation === undefined ? {} : { augmentation }),
    ...(terminal_failure_note === undefined ? {} : { terminalFailureNote: terminal_failure_note }),
  };
}

/** The inverse of `selectionOfKeys`. */
export function keysOfSelection(selection: Selection): SelectionKeys {
  const { control, sourcesPerTask, augmentation, terminalFailureNote } = selection;
  return {
    ...(control === undefined ? {} : { control }),
    ...(sourcesPerTask === undefined ? {} : { sources_per_task: sourcesPerTask }),
    ...(augmentation === undefined ? {} : { augmentation }),
    ...(terminalFailureNote === undefined ? {} : { terminal_failure_note: terminalFailureNote }),
  };
}
