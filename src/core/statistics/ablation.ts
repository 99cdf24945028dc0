/**
 * The ablation matrix (Section "Ablation and Analysis"): every control at every source budget K over the same decisions,
 * each figure with an interval over tasks; and the coverage by K.
 */
import { bootstrap, type Interval } from "../bootstrap.ts";
import { environmentRules } from "../environment/environment.ts";
import { evidenceInput } from "../evidence/evidence-input.ts";
import type { RetrievalRecord } from "../record/schema.ts";
import { prepareTask } from "../retrieval/prepare.ts";
import { retrieveEpisode } from "../retrieval/retrieve.ts";
import { CONTROLS, type Selection, SOURCE_BUDGETS, selectSources } from "../retrieval/selection.ts";
import type { Control } from "../retrieval/types.ts";
import { CoverageCounter, type CoverageRow } from "./coverage.ts";
import { CHARACTERS, type EvidenceMeter, EvidenceSizer } from "./evidence-sizes.ts";
import type { TaskRecords } from "./library-statistics.ts";

/** The budgets of the matrix; null takes every recorded execution. */
export const ABLATION_BUDGETS: readonly (number | null)[] = [...SOURCE_BUDGETS, null];

/** Means over the decisions of a cell; shares in 0 … 1. */
export const ABLATION_FIGURES = ["matched", "fallback", "referenced", "evidence"] as const;
export type AblationFigure = (typeof ABLATION_FIGURES)[number];

/** A mean over decisions; null where there is none to count. */
export interface Estimate {
  value: number | null;
  /** 95 % over clusters; null with fewer than two of them. */
  interval: Interval | null;
}

export interface AblationCell {
  control: Control;
  /** K; null for all. */
  sourcesPerTask: number | null;
  /**
   * `matched`: the locator matches an indexed visit. `fallback`: the successful reference is a whole record, not found
   * through a shared state. `referenced`: at least one external reference is retained. `evidence`: size of R_t.
   */
  figures: Record<AblationFigure, Estimate>;
}

export interface AblationMatrix {
  /** Of the evidence. */
  unit: EvidenceMeter["unit"];
  decisions: number;
  /** What intervals are over. */
  clusters: { kind: "task" | "episode"; count: number };
  coverage: CoverageRow[];
  tasks: number;
  cells: AblationCell[];
  /** Decisions whose evidence could not be measured, in at least one cell: the mean size leaves them out there. */
  unmeasured: number;
}

/** What holds in every cell. */
export type AblationBase = Pick<Selection, "augmentation" | "subset" | "terminalFailureNote">;

/** Sums and counts of one cell, a pair of numbers per cluster for each figure. */
type Sums = Record<AblationFigure, { sums: number[]; counts: number[] }>;

interface Collected {
  control: Control;
  sourcesPerTask: number | null;
  sums: Sums;
}

/** Mean of a figure, with its interval over clusters; `seed` as for `bootstrap`. */
export function estimate(
  { sums, counts }: { sums: readonly number[]; counts: readonly number[] },
  seed?: number,
): Estimate {
  const total = (values: readonly number[]): number => values.reduce((sum, value) => sum + value, 0);
  const count = total(counts);
  if (count === 0) return { value: null, interval: null };
  return { value: total(sums) / count, interval: sums.length < 2 ? null : bootstrap(sums, counts, seed) };
}

function isFallback({ success }: RetrievalRecord): boolean {
  return success?.relation === "unaligned" || success?.relation === "unverified";
}

/** Collects the matrix task by task; nothing of a task is kept but sums. */
export class AblationCollector {
  readonly #base: AblationBase;
  readonly #meter: EvidenceMeter;
  readonly #cluster: "task" | "episode";
  readonly #coverage = new CoverageCounter();
  readonly #cells: Collected[];
  readonly #unmeasured = new Set<string>();
  #tasks = 0;
  #decisions = 0;

  /** `cluster` is what intervals are over: tasks of a library, episodes of a single task. */
  constructor(
    cluster: "task" | "episode",
    { meter = CHARACTERS, ...base }: AblationBase & { meter?: EvidenceMeter } = {},
  ) {
    this.#base = base;
    this.#meter = meter;
    this.#cluster = cluster;
    const none = () => ({ sums: [], counts: [] });
    this.#cells = CONTROLS.flatMap((control) =>
      ABLATION_BUDGETS.map((sourcesPerTask) => ({
        control,
        sourcesPerTask,
        sums: { matched: none(), fallback: none(), referenced: none(), evidence: none() },
      })),
    );
  }

  /** Counts one task in all cells. It yields after each episode of each cell, so that a worker can answer in between. */
  *add({ environment, sources, episodes }: TaskRecords): Generator<void, void> {
    this.#tasks++;
    this.#coverage.add(environment, sources);
    if (episodes.length === 0) return;
    for (const { decisions } of episodes) this.#decisions += decisions.length;
    const rules = environmentRules(environment);
    const meter = remembering(this.#meter);
    for (const budget of ABLATION_BUDGETS) {
      const chosen = { ...this.#base, ...(budget === null ? {} : { sourcesPerTask: budget }) };
      const prepared = prepareTask(selectSources(sources, chosen), rules);
      for (const { control, sums } of this.#cells.filter((cell) => cell.sourcesPerTask === budget)) {
        for (const [i, episode] of episodes.entries()) {
          if (i === 0 || this.#cluster === "episode") openCluster(sums);
          const sizer = new EvidenceSizer(meter);
          for (const { record } of retrieveEpisode(prepared, episode, { ...chosen, control })) {
            count(sums.matched, record.matched_visits > 0);
            count(sums.fallback, isFallback(record));
            count(sums.referenced, record.success !== null || record.failure !== null);
            const size = sizer.add(evidenceInput(prepared, episode, record, control));
            if (size !== null) count(sums.evidence, size);
          }
          for (const { task, episode: name, decision } of sizer.result().unmeasured)
            this.#unmeasured.add(JSON.stringify([environment, task, name, decision]));
          yield;
        }
      }
    }
  }

  /** The matrix, cell by cell: the intervals of each take their time. */
  *result(): Generator<void, AblationMatrix> {
    const cells: AblationCell[] = [];
    for (const { control, sourcesPerTask, sums } of this.#cells) {
      const figures: Partial<AblationCell["figures"]> = {};
      for (const figure of ABLATION_FIGURES) {
        figures[figure] = estimate(sums[figure]);
        yield;
      }
      cells.push({ control, sourcesPerTask, figures: figures as AblationCell["figures"] });
    }
    return {
      unit: this.#meter.unit,
      decisions: this.#decisions,
      clusters: { kind: this.#cluster, count: this.#cells[0]!.sums.matched.sums.length },
      coverage: this.#coverage.rows(),
      tasks: this.#tasks,
      cells,
      unmeasured: this.#unmeasured.size,
    };
  }
}

function openCluster(sums: Sums): void {
  for (const figure of ABLATION_FIGURES) {
    sums[figure].sums.push(0);
    sums[figure].counts.push(0);
  }
}

/** Adds one decision to the last cluster. */
function count({ sums, counts }: Sums[AblationFigure], value: number | boolean): void {
  sums[sums.length - 1]! += Number(value);
  counts[counts.length - 1]! += 1;
}

/** A meter that measures a text once: cells of one task share most of their evidence. */
function remembering(meter: EvidenceMeter): EvidenceMeter {
  const sizes = new Map<string, number>();
  return {
    ...meter,
    size(text) {
      const known = sizes.get(text);
      if (known !== undefined) return known;
      const size = meter.size(text);
      sizes.set(text, size);
      return size;
    },
  };
}
