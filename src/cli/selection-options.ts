/** The options of the paper's ablations, and sources switched off: the same for every command that retrieves. */
import { type Command, InvalidArgumentError, Option } from "commander";
import { METHOD_IDS, METHODS, type MethodId, methodSelection } from "../core/method/index.ts";
import { CONTROLS, type Selection } from "../core/retrieval/selection.ts";
import type { LibrarySubset } from "../core/retrieval/subset.ts";
import type { Control } from "../core/retrieval/types.ts";

/** The methods that retrieve: all but vanilla OPD. */
const RETRIEVING = METHOD_IDS.filter((id) => methodSelection(METHODS[id]) !== null);

/** What commander makes of them. */
export interface SelectionOptions {
  method?: MethodId;
  control?: Control;
  sourcesPerTask?: number;
  augmentation?: "on" | "off";
  terminalFailureNote?: boolean;
  without?: string[];
}

/** A whole number from 1, as an option's value. */
export function countFromOne(text: string): number {
  if (!/^[1-9]\d{0,8}$/.test(text)) throw new InvalidArgumentError("expected a whole number from 1.");
  return Number(text);
}

/** A whole number from 0, as an option's value. */
export function countFromZero(text: string): number {
  if (!/^\d{1,9}$/.test(text)) throw new InvalidArgumentError("expected a whole number from 0.");
  return Number(text);
}

/** A part of the library, drawn. */
export interface SubsetOptions {
  successTasks?: number;
  failures?: number;
  subsetSeed?: number;
}

export function addSubsetOptions(command: Command): Command {
  return command
    .option(
      "--success-tasks <share>",
      "share of tasks, 0 to 1, that keep their sampled successes; the others lose all of theirs",
      share,
    )
    .option("--failures <share>", "share of sampled records without a success, 0 to 1, that are kept", share)
    .option("--subset-seed <number>", "of the draws behind both shares; 0 if absent", countFromZero);
}

/** Undefined for the whole library. */
export function subsetOf({
  successTasks,
  failures,
  subsetSeed: seed,
}: SubsetOptions): LibrarySubset | undefined {
  if (successTasks === undefined && failures === undefined) return undefined;
  return {
    ...(successTasks === undefined ? {} : { successTasks }),
    ...(failures === undefined ? {} : { failures }),
    ...(seed === undefined ? {} : { seed }),
  };
}

function share(text: string): number {
  const value = Number(text);
  if (text.trim() === "" || !(value >= 0 && value <= 1))
    throw new InvalidArgumentError("expected a share from 0 to 1.");
  return value;
}

/** Adds them to a command. */
export function addSelectionOptions(command: Command): Command {
  return command
    .addOption(
      new Option(
        "--method <id>",
        "the records of a method: gc-opd takes the K = 16 sampled ones, gc-opd+ga planner and oracle records too. " +
          "If absent, every record of the library takes part: for a library with planner records that is gc-opd+ga",
      ).choices(RETRIEVING),
    )
    .addOption(
      new Option(
        "--control <name>",
        "what is retained: graph (the full method, and the default), no failed record (success-only), no record at " +
          "all (hindsight-only), or one fixed pair per episode (minimum-prefix)",
      ).choices(CONTROLS),
    )
    .option(
      "--sources-per-task <K>",
      "source budget: only records with a repetition below K (planner and oracle records apart); " +
        "as --method has it, or all, if absent",
      countFromOne,
    )
    .addOption(
      new Option(
        "--augmentation <on|off>",
        "whether planner and oracle records take part; as --method has it, or on, if absent",
      ).choices(["on", "off"]),
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

/** The options under the names of the core; what is given goes before what the method has. */
export function selectionOf(options: SelectionOptions): Selection {
  const method = options.method === undefined ? null : methodSelection(METHODS[options.method]);
  return {
    control: options.control ?? method?.control ?? "graph",
    sourcesPerTask: options.sourcesPerTask ?? method?.sourcesPerTask,
    augmentation:
      options.augmentation === undefined ? (method?.augmentation ?? true) : options.augmentation === "on",
    terminalFailureNote: options.terminalFailureNote === true,
    ...(options.without === undefined ? {} : { without: options.without }),
  };
}
