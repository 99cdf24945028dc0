/** What a comparison found, from its parts' folders: results.json, results.csv, cells.csv and results.tex. */
import { join } from "node:path";
import { z } from "zod";
import type { Interval } from "../../core/bootstrap.ts";
import { type GridTable, gridTable, type PlayedCell } from "../../core/evaluation/index.ts";
import {
  type CellResult,
  type ExperimentGrid,
  type ExperimentResults,
  experimentResults,
  type GridCell,
} from "../../core/loop/index.ts";
import { countOf } from "../../core/plural.ts";
import { cellsCsv, resultsCsv, resultsTex } from "../../formats/export/grid-tables.ts";
import { table } from "../demo/table.ts";
import { writeOut } from "../io.ts";
import { evaluatedEpisodes } from "../live/evaluate.ts";
import { readLines } from "../train/event-log.ts";
import type { GridOutcome, Measured } from "./grid-run.ts";
import { writeJson } from "./part-config.ts";

/** Reads every evaluation and writes the tables. */
export async function writeResults(
  grid: ExperimentGrid,
  { measured, deviations }: GridOutcome,
  { environment, notes }: Pick<ExperimentResults, "environment" | "notes">,
  inside: (name: string) => string,
): Promise<ExperimentResults> {
  const { tables, without } = await gridTables(grid, measured, inside);
  const cells = grid.cells.map((cell) => cellResult(cell, inside));
  const tasks = firstOf(grid.runs.map(({ name }) => unitsOf(inside(name))));
  const results = experimentResults(grid, {
    ...{ environment, tasks, cells, tables, notes },
    deviations: [...deviations, ...without],
  });
  await writeJson(inside("results.json"), results);
  await writeOut(inside("results.csv"), [resultsCsv(tables)]);
  await writeOut(inside("cells.csv"), [cellsCsv(tables)]);
  await writeOut(inside("results.tex"), [resultsTex(tables)]);
  return results;
}

/** A table per evaluation and kind of checkpoint, in their order, and those that no task is left for. */
async function gridTables(
  { methods, cells, evaluations }: ExperimentGrid,
  measured: readonly Measured[],
  inside: (name: string) => string,
): Promise<{ tables: GridTable[]; without: ExperimentResults["deviations"] }> {
  const tables: GridTable[] = [];
  const without: ExperimentResults["deviations"] = [];
  for (const { name: evaluation, of } of evaluations) {
    const own = measured.filter((each) => each.evaluation === evaluation);
    const before = own.find(({ run }) => run === null);
    const untrained = before === undefined ? null : await evaluatedEpisodes(inside(before.name));
    const checkpoints = [...new Set(own.flatMap((each) => (each.run === null ? [] : [each.checkpoint])))];
    for (const checkpoint of checkpoints.sort(byStep)) {
      const played: PlayedCell[] = [];
      for (const { method, seed, run, parent } of cells) {
        const found = own.find(
          (each) =>
            each.checkpoint === checkpoint && (each.run === run || (parent !== null && each.run === parent)),
        );
        if (found !== undefined)
          played.push({ method, seed, episodes: await evaluatedEpisodes(inside(found.name)) });
      }
      if (played.length === 0) continue;
      const { name: place } = of("").environment;
      const table = gridTable({
        ...{ evaluation, environment: place, checkpoint, methods },
        ...{ cells: played, untrained },
      });
      if (table === null)
        without.push({
          part: `${evaluation}, ${checkpoint}`,
          kind: "technical",
          reason: "no table: of every task, an episode of some row ended for a technical reason",
        });
      else tables.push(table);
    }
  }
  return { tables, without };
}

/** Steps by their number, the final and the best student before them. */
function byStep(a: string, b: string): number {
  const step = (label: string): number => (label.startsWith("step-") ? Number(label.slice(5)) : -1);
  return step(a) - step(b);
}

function cellResult(cell: GridCell, inside: (name: string) => string): CellResult {
  const events = [cell.parent, cell.run].flatMap((run) => (run === null ? [] : eventsOf(inside(run))));
  const sum = (values: readonly number[]): number => values.reduce((all, value) => all + value, 0);
  return {
    ...cell,
    steps: eventsOf(inside(cell.run)).findLast(({ type }) => type === "done")?.step ?? null,
    episodes: {
      sampled: sum(events.flatMap(({ type, count }) => (type === "rollout" ? [count] : []))),
      left_out: sum(events.flatMap(({ type, count }) => (type === "excluded" ? [count] : []))),
      no_turn: sum(events.flatMap((event) => (event.type === "excluded" ? [event.noTurn] : []))),
    },
  };
}

const eventSchema = z.union([
  z
    .object({ type: z.literal("rollout"), step: z.int(), episodes: z.int() })
    .transform(({ episodes, ...event }) => ({ ...event, count: episodes })),
  z
    .object({
      type: z.literal("excluded"),
      step: z.int(),
      // Runs of an earlier version did not tell it.
      episodes: z.array(z.object({ noTurn: z.literal(true).optional() })),
    })
    .transform(({ episodes, ...event }) => ({
      ...event,
      count: episodes.length,
      noTurn: episodes.filter((each) => each.noTurn).length,
    })),
  z
    .object({ type: z.literal("start"), step: z.int(), units: z.int() })
    .transform(({ units, ...event }) => ({ ...event, count: units })),
  z.object({ type: z.literal("done"), step: z.int() }).transform((event) => ({ ...event, count: 0 })),
]);

const eventsOf = (out: string): z.infer<typeof eventSchema>[] =>
  readLines(join(out, "events.jsonl")).flatMap((value) => {
    const event = eventSchema.safeParse(value).data;
    return event === undefined ? [] : [event];
  });

/** The tasks that a run trains on; null where it has not begun. */
const unitsOf = (out: string): number | null =>
  eventsOf(out).find(({ type }) => type === "start")?.count ?? null;

const firstOf = (values: readonly (number | null)[]): number | null =>
  values.find((value) => value !== null) ?? null;

const two = (value: number | null | undefined): string => (value == null ? "–" : value.toFixed(2));
const range = (interval: readonly [number, number] | null): string =>
  interval === null ? "–" : `${two(interval[0])} to ${two(interval[1])}`;

const everyRange = ({ methods, comparisons }: GridTable): (Interval | null)[] => [
  ...methods.map(({ sr }) => sr.interval),
  ...comparisons.map(({ sr }) => sr.interval),
];

/** The tables, comparisons and deviations as text. */
export function resultsText({
  tables,
  deviations,
  episodes_per_cell,
  shared_parents,
  methods,
  notes,
}: ExperimentResults): string {
  const labelOf = (method: string) => methods.find(({ id }) => id === method)?.label ?? method;
  const parts = tables.flatMap((each) => [
    `${each.evaluation} (${each.environment}), ${each.checkpoint} checkpoint: mean and SD over n training seeds; ` +
      `each training is the mean over ${countOf(each.tasks, "task")} and inference seeds ${each.inference_seeds.join(", ")}` +
      (each.left_out.length === 0
        ? ""
        : `; ${countOf(each.left_out.length, "task")} left out of every row, since an episode of some row ended for a technical reason`),
    table(
      ["Method", "training seeds", "n", "SR, %", "SD", "95 %", "Score", "SD", "Rounds", "SD"],
      [
        ...(each.untrained === null
          ? []
          : [
              [
                "Untrained student",
                "none",
                "–",
                ...[two(each.untrained.sr.mean), "–", "–", two(each.untrained.score?.mean), "–"],
                ...[two(each.untrained.rounds.mean), "–"],
              ],
            ]),
        ...each.methods.map(({ label, training_seeds, sr, score, rounds }) => [
          ...[label, training_seeds.join(", "), `${sr.n}`, two(sr.mean), two(sr.sd), range(sr.interval)],
          ...[two(score?.mean), two(score?.sd), two(rounds.mean), two(rounds.sd)],
        ]),
      ],
    ),
    ...(each.comparisons.length === 0
      ? []
      : [
          "Paired differences in SR, in percentage points, on the same training seeds, tasks and inference seeds:",
          table(
            ["a less b", "n", "difference", "95 % over training seeds", "p", "p (Holm)", "95 % over tasks"],
            each.comparisons.map(({ a, b, sr }) => [
              ...[`${labelOf(a)} − ${labelOf(b)}`, `${sr.n}`, two(sr.mean), range(sr.interval)],
              ...[sr.p?.toPrecision(2) ?? "–", sr.p_holm?.toPrecision(2) ?? "–", range(sr.over_tasks)],
            ]),
          ),
        ]),
    ...(everyRange(each).some((interval) => interval !== null && interval[0] === interval[1])
      ? [
          "An interval of no width is of equal values: it does not say that another training would give the same.",
        ]
      : []),
  ]);
  const shared = shared_parents.map(({ run, cells }) => `${run} is the parent of ${cells.join(", ")}.`);
  return [
    ...parts,
    ...notes,
    `Episodes of each cell: ${episodes_per_cell ?? "not known"}.${shared.length === 0 ? "" : ` ${shared.join(" ")}`}`,
    deviations.length === 0
      ? "No deviations."
      : ["Deviations:", ...deviations.map(({ part, kind, reason }) => `- ${part}: ${kind}: ${reason}`)].join(
          "\n",
        ),
  ].join("\n\n");
}
