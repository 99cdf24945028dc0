/**
 * The figures that the paper prints of a library and a set of student episodes, for any of them: Section "Ablation and
 * Analysis" and appendix "Representation size". One task at a time; nothing of a task is kept.
 */
import { environmentRules } from "../environment/environment.ts";
import { InputError } from "../errors.ts";
import { evidenceInput } from "../evidence/evidence-input.ts";
import { taskKey } from "../record/library.ts";
import type { Episode, Source } from "../record/schema.ts";
import type { UnreadableRecord } from "../record/unreadable.ts";
import { addEntries, type EntryCounts, noEntries } from "../retrieval/eligibility.ts";
import { prepareTask } from "../retrieval/prepare.ts";
import { retrieveEpisode } from "../retrieval/retrieve.ts";
import { type Selection, selectSources } from "../retrieval/selection.ts";
import { CoverageCounter, type CoverageRow } from "./coverage.ts";
import { addDecision, type DecisionStatistics, emptyDecisionStatistics } from "./decision-statistics.ts";
import { CHARACTERS, type EvidenceMeter, EvidenceSizer, type EvidenceSizes } from "./evidence-sizes.ts";
import { addGraph, emptyGraphTotals, type GraphTotals } from "./graph-totals.ts";

/** All records of one task. */
export interface TaskRecords {
  environment: string;
  task: string;
  /** Empty where the library has none: such a task stays among the tasks, and its decisions among the decisions. */
  sources: readonly Source[];
  /** Student episodes; empty when only the library is counted. */
  episodes: readonly Episode[];
  /** Records of the task that cannot be read; none when absent. They are listed and counted nowhere. */
  unreadable?: readonly UnreadableRecord[];
}

export interface StatisticsOptions {
  /** What takes part and what is retained; everything, and the full method, when absent. */
  selection?: Selection;
  /** The budgets K of the coverage. */
  budgets?: readonly number[];
  /** What evidence is measured in; characters when absent, and not at all when null. */
  meter?: EvidenceMeter | null;
}

export interface LibraryStatistics {
  /** What everything but the coverage was counted under. */
  selection: Selection;
  tasks: number;
  /** Tasks that only the episodes name. */
  tasksWithoutSources: number;
  /** Source records, before the selection. */
  recorded: number;
  /** Coverage of `tasks` by budget, over all records. */
  coverage: CoverageRow[];
  /** The visits of the successes that take part, before each one's last: which can be entered. */
  entries: EntryCounts;
  /** The graphs of the records that take part. */
  graph: GraphTotals;
  /** Null when no episode was given. */
  decisions: DecisionStatistics | null;
  /** Null when no episode was given, or no meter. */
  evidence: EvidenceSizes | null;
  /** What is in none of these figures, since it cannot be read; by file and line. */
  unreadable: UnreadableRecord[];
}

/** Collects the statistics of a library, task after task. */
export class StatisticsCollector {
  readonly #selection: Selection;
  readonly #coverage: CoverageCounter;
  readonly #sizer: EvidenceSizer | null;
  readonly #entries = noEntries();
  readonly #graph = emptyGraphTotals();
  readonly #decisions = emptyDecisionStatistics();
  readonly #seen = new Set<string>();
  readonly #unreadable: UnreadableRecord[] = [];
  #withoutSources = 0;
  #recorded = 0;

  constructor(options: StatisticsOptions = {}) {
    const { selection = {}, budgets, meter = CHARACTERS } = options;
    this.#selection = selection;
    this.#coverage = new CoverageCounter(budgets);
    this.#sizer = meter === null ? null : new EvidenceSizer(meter);
  }

  /**
   * Counts one task, all of whose records come at once.
   *
   * @throws InputError when the task was counted before, or a record is of another task
   */
  add({ environment, task, sources, episodes, unreadable = [] }: TaskRecords): void {
    const key = taskKey(environment, task);
    if (this.#seen.has(key)) throw new InputError(`task ${environment}/${task} was counted before`);
    this.#seen.add(key);
    this.addUnreadable(unreadable);
    if (sources.length === 0 && !unreadable.some(({ kind }) => kind === "source")) this.#withoutSources++;
    this.#recorded += sources.length;
    this.#coverage.add(environment, sources);
    const prepared = prepareTask(selectSources(sources, this.#selection), environmentRules(environment));
    for (const source of prepared.graph.sources) addEntries(this.#entries, source, prepared.rules);
    addGraph(this.#graph, prepared.graph);
    for (const episode of episodes) {
      this.#decisions.episodes++;
      if (episode.outcome.success) this.#decisions.wonEpisodes++;
      for (const { record } of retrieveEpisode(prepared, episode, this.#selection)) {
        const input = evidenceInput(prepared, episode, record, this.#selection.control);
        addDecision(this.#decisions, input);
        this.#sizer?.add(input);
      }
    }
  }

  /** Lists lines that are of no task, since nothing can be read of them. */
  addUnreadable(records: readonly UnreadableRecord[]): void {
    this.#unreadable.push(...records);
  }

  result(): LibraryStatistics {
    const counted = this.#decisions.episodes > 0;
    return {
      selection: { ...this.#selection },
      tasks: this.#seen.size,
      tasksWithoutSources: this.#withoutSources,
      recorded: this.#recorded,
      coverage: this.#coverage.rows(),
      entries: structuredClone(this.#entries),
      graph: { ...this.#graph },
      decisions: counted ? structuredClone(this.#decisions) : null,
      evidence: counted ? (this.#sizer?.result() ?? null) : null,
      unreadable: this.#unreadable.toSorted((a, b) =>
        a.file === b.file ? a.line - b.line : a.file < b.file ? -1 : 1,
      ),
    };
  }
}
