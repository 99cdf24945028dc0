/** The options of the paper's ablations, and sources switched off: the same for every command that retrieves. */
import { type Command, InvalidArgumentError, Option } from "commander";
import { CONTROLS, type Selection } from "../core/retrieval/selection.ts";
import type { Control } from "../core/retrieval/types.ts";

/** What commander makes of them. */
export interface SelectionOptions {
  control: Control;
  sourcesPerTask?: number;
  augmentation: "on" | "off";
  terminalFailureNote?: boolean;
  without?: string[];
}

/** A whole number from 1, as an option's value. */
export function countFromOne(text: string): number {
  if (!/^[1-9]\d{0,8}$/.test(text)) throw new InvalidArgumentError("expected a whole number from 1.");
  return Number(text);
}

/** Adds them to a command. */
export function addSelectionOptions(command: Command): Command {
  return command
    .addOption(
      new Option(
        "--control <name>",
        "what is retained: graph (the full method), no failed record (success-only), no record at all " +
          "(hindsight-only), or one fixed pair an episode (minimum-prefix)",
      )
        .choices(CONTROLS)
        .default("graph"),
    )
    .option(
      "--sources-per-task <K>",
      "source budget: only records with a repetition below K (planner and oracle records apart); all if absent",
      countFromOne,
    )
    .addOption(
      new Option("--augmentation <on|off>", "whether planner and oracle records take part")
        .choices(["on", "off"])
        .default("on"),
    )
    .option(
      "--terminal-failure-note",
      "a note on the final decision of an episode that ended by itself with a negative score",
    )
    .option(
      "--without <source>",
      "switches a source off: nothing of it is looked up or retained (not in the paper; can be given several times)",
      (id: string, ids: string[] = []) => [...ids, id],
    );
}

/** The options under the names of the core. */
export function selectionOf(options: SelectionOptions): Selection {
  return {
    control: options.control,
    sourcesPerTask: options.sourcesPerTask,
    augmentation: options.augmentation === "on",
    terminalFailureNote: options.terminalFailureNote === true,
    ...(options.without === undefined ? {} : { without: options.without }),
  };
}
