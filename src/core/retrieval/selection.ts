/**
 * The controls of the paper's ablations (Section "Ablation and Analysis") as one set of options, and with them what
 * only a what-if asks for: sources switched off, and references chosen by hand. Which sources there are
 * (`SourceSelection`) is decided before `prepareTask`; what is retained of them (`RetrieveOptions`) is decided for each
 * decision by `retrieve`.
 */
import { InputError } from "../errors.ts";
import { type DrawnBy, type LibrarySubset, subsetFilter, subsetKey } from "./subset.ts";
import type { Control, Pin } from "./types.ts";

/** All controls; `graph` is the full method. */
export const CONTROLS = [
  "graph",
  "success-only",
  "hindsight-only",
  "minimum-prefix",
] as const satisfies readonly Control[];

/** The nested source budgets K of the paper (Figure "Source budget and student performance"). */
export const SOURCE_BUDGETS = [1, 4, 8, 16] as const;

/** Which records of a task's library take part. Everything takes part when all are absent. */
export interface SourceSelection {
  /** Source budget K, from 1: of the sampled records, those with a repetition below K. No limit when absent. */
  sourcesPerTask?: number;
  /** Graph augmentation (GC-OPD + GA; false is GC-OPD): planner and oracle records take part. True when absent. */
  augmentation?: boolean;
  /** Part of the sampled records, drawn (not in the paper). All when absent. */
  subset?: LibrarySubset;
  /** Ids of sources that are switched off (not in the paper): nothing is looked up, ranked or retained of them. */
  without?: readonly string[];
}

/** What is retained of the retrieved records. */
export interface RetrieveOptions {
  /** One of the paper's ablations; `graph`, the full method, when absent. */
  control?: Control;
  /**
   * The final decision of an episode that ended by itself with a negative score carries a note that says so (appendix,
   * "Planner and oracle executions"). False when absent.
   */
  terminalFailureNote?: boolean;
  /** The successful reference chosen by hand (not in the paper); see `pinnedReference`. */
  pin?: Pin;
  /** The failed reference chosen by hand (not in the paper). */
  pinFailure?: Pin;
}

/** All options of an ablation. */
export interface Selection extends SourceSelection, RetrieveOptions {}

/** One name for a selection of sources; equal for those that keep the same. */
export function sourcesKey({
  sourcesPerTask,
  augmentation = true,
  subset = {},
  without = [],
}: SourceSelection): string {
  return JSON.stringify([sourcesPerTask ?? "all", augmentation, subsetKey(subset), [...without].sort()]);
}

/** What a selection looks at: a record, or as much of it as an index keeps. */
export interface SelectedBy extends DrawnBy {
  repetition: number;
  origin: { kind: string };
}

/** A record that graph augmentation adds to the sampled ones: an executed plan or oracle. */
export function isAugmentation(source: Pick<SelectedBy, "origin">): boolean {
  return source.origin.kind === "planner" || source.origin.kind === "oracle";
}

/**
 * The records of a library that a selection lets take part, in their order. Budgets are nested: what K keeps, every
 * larger K keeps. They count every record that is not augmentation by its repetition, from 0; a repetition that was
 * never recorded is not made up for by a later one, nor is one that is switched off or not drawn. A switched-off id that no record
 * has is not an error here: ids are a task's own, and a library has many tasks.
 *
 * @throws InputError when K is not a whole number from 1, and for a share outside 0 to 1
 */
export function selectSources<T extends SelectedBy>(
  sources: readonly T[],
  selection: SourceSelection,
): readonly T[] {
  const { sourcesPerTask: budget, augmentation = true, subset = {}, without = [] } = selection;
  if (budget !== undefined && !(Number.isInteger(budget) && budget >= 1)) {
    throw new InputError(`expected a source budget that is a whole number from 1, received ${budget}`);
  }
  const isDrawn = subsetFilter(subset);
  const isWhole = subsetKey(subset).length === 0;
  if (budget === undefined && augmentation && isWhole && without.length === 0) return sources;
  const off = new Set(without);
  return sources.filter(
    (source) =>
      !off.has(source.source) &&
      (isAugmentation(source)
        ? augmentation
        : (budget === undefined || source.repetition < budget) && isDrawn(source)),
  );
}
