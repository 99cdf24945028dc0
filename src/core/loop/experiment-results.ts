/** What a comparison found, as results.json has it: put together from its tables, in whatever place it was run. */
import { z } from "zod";
import type { GridTable } from "../evaluation/index.ts";
import { countOf } from "../plural.ts";
import type { ExperimentGrid, GridCell } from "./experiment-grid.ts";

export const RESULTS_FORMAT = "gcopd.experiment.v1";

export interface CellResult extends GridCell {
  /** Optimizer steps of its student, those of its parent included; null where its run has no end. */
  steps: number | null;
  /**
   * Episodes that were sampled for it, those of its parent included, how many of them no update took, and how many of these
   * did not end for technical reasons: they had nothing to train on.
   */
  episodes: { sampled: number; left_out: number; no_turn: number };
}

export interface ExperimentResults {
  format: typeof RESULTS_FORMAT;
  environment: string;
  methods: ExperimentGrid["methods"];
  training_seeds: number[];
  /** For each cell: epochs × tasks. Null where no run has begun. */
  episodes_per_cell: number | null;
  cells: CellResult[];
  /** Runs that several cells continue. */
  shared_parents: { run: string; cells: string[] }[];
  tables: GridTable[];
  /** What the tables do not say of the tasks that they are measured on. */
  notes: string[];
  deviations: { part: string; kind: string; reason: string }[];
}

/** What is put together: the tables, each cell's run, and what kept parts from their figures. */
export interface FoundByExperiment {
  environment: string;
  /** Tasks that each run trains on; null where none has begun. */
  tasks: number | null;
  cells: CellResult[];
  tables: GridTable[];
  notes?: string[];
  deviations: ExperimentResults["deviations"];
}

/** The results, with what deviates in the cells and in the tables. */
export function experimentResults(
  grid: Pick<ExperimentGrid, "methods" | "seeds" | "epochs" | "cells">,
  { environment, tasks, cells, tables, notes = [], deviations }: FoundByExperiment,
): ExperimentResults {
  const expected = tasks === null ? null : grid.epochs * tasks;
  const parents = [...new Set(grid.cells.flatMap(({ parent }) => (parent === null ? [] : [parent])))];
  return {
    format: RESULTS_FORMAT,
    environment,
    methods: grid.methods,
    training_seeds: grid.seeds,
    episodes_per_cell: expected,
    cells,
    shared_parents: parents.map((run) => ({
      run,
      cells: grid.cells.filter(({ parent }) => parent === run).map((cell) => cell.run),
    })),
    tables,
    notes,
    deviations: [...deviations, ...leftOut(cells, expected), ...technical(tables)],
  };
}

/** Cells that did not get the episodes of the others. */
function leftOut(cells: readonly CellResult[], expected: number | null): ExperimentResults["deviations"] {
  return cells.flatMap(({ run, steps, episodes: { sampled, left_out, no_turn } }) => [
    ...(steps === null || expected === null || sampled === expected
      ? []
      : [{ part: run, kind: "episodes", reason: `${sampled} episodes in place of ${expected}` }]),
    ...(left_out === no_turn
      ? []
      : [
          {
            part: run,
            kind: "technical",
            reason: `${left_out - no_turn} of ${sampled} episodes ended for a technical reason: no update took them`,
          },
        ]),
    ...(no_turn === 0
      ? []
      : [
          {
            part: run,
            kind: "no turn",
            reason: `${no_turn} of ${sampled} episodes had nothing to train on: no update took them`,
          },
        ]),
  ]);
}

function technical(tables: readonly GridTable[]): ExperimentResults["deviations"] {
  return tables.flatMap(({ evaluation, checkpoint, cells, untrained }) =>
    [
      ...(untrained === null ? [] : [{ name: "untrained", technical: untrained.technical }]),
      ...cells.map((cell) => ({
        name: `${cell.method}, seed ${cell.training_seed}`,
        technical: cell.technical,
      })),
    ].flatMap(({ name, technical: ends }) => {
      const tasks = new Set(ends.map(({ task }) => task)).size;
      return tasks === 0
        ? []
        : [
            {
              part: `${evaluation}, ${checkpoint}: ${name}`,
              kind: "technical",
              reason: `${countOf(ends.length, "episode")} of ${countOf(tasks, "task")} ended for a technical reason (first: ${ends[0]!.reason}): left out of every row`,
            },
          ];
    }),
  );
}

const figure = z.object({
  n: z.int().min(1),
  mean: z.number(),
  interval: z.tuple([z.number(), z.number()]).nullable(),
});

/** The part of a results.json that its curves are drawn from. */
export const recordedResultsSchema = z.object({
  format: z.literal(RESULTS_FORMAT),
  cells: z.array(z.object({ method: z.string(), steps: z.int().min(0).nullable() })),
  tables: z
    .array(
      z.object({
        evaluation: z.string(),
        environment: z.string(),
        checkpoint: z.string(),
        methods: z.array(z.object({ method: z.string(), label: z.string(), sr: figure })),
        untrained: z.object({ sr: z.object({ mean: z.number() }) }).nullable(),
      }),
    )
    .min(1),
});

export type RecordedResults = z.infer<typeof recordedResultsSchema>;
