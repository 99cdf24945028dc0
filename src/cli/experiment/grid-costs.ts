/** GPU-hours of a comparison, from what its parts measured: costs.json and a table. */
import { dirname } from "node:path";
import {
  type Cost,
  type CostRow,
  costRows,
  type ExperimentGrid,
  isCpu,
  namedFiles,
  type TrainConfig,
} from "../../core/loop/index.ts";
import { table } from "../demo/table.ts";
import { playCosts } from "../live/play-seconds.ts";
import { trainCosts } from "../train/train-costs.ts";
import type { Measured } from "./grid-run.ts";
import { writeJson } from "./part-config.ts";
import type { ReadExperiment } from "./read-experiment.ts";

export interface ExperimentCosts {
  format: "gcopd.experiment-costs.v1";
  /** Each part once. */
  experiment: CostRow[];
  /** A cell with the whole of its parent and its own evaluations: what it alone would have cost after the collection. */
  cells: { method: string; training_seed: number; stages: CostRow[] }[];
}

/** GPUs that a part holds. */
function held(
  costs: readonly Omit<Cost, "gpus">[],
  { gpus }: ReadExperiment,
  cards?: TrainConfig["cards"],
): Cost[] {
  const own = gpus ?? (Array.isArray(cards) ? cards.length : (cards ?? 1));
  return costs.map((cost) => ({ ...cost, gpus: isCpu(cost.device) && gpus === undefined ? 0 : own }));
}

/** Sums what the parts measured and writes it. */
export async function writeCosts(
  config: ReadExperiment,
  grid: ExperimentGrid,
  measured: readonly Measured[],
  inside: (name: string) => string,
): Promise<ExperimentCosts> {
  const { library, teacher, train, price_per_gpu_hour: price } = config;
  const collections =
    library === undefined
      ? [inside("library")]
      : [...new Set(namedFiles(library).map((file) => dirname(file)))];
  // A teacher that `gcopd train` made lies in its run's folder.
  const teacherSeconds = trainCosts(dirname(teacher)).map(
    ({ seconds, device }) => ({ stage: "teacher training", device, seconds }) as const,
  );
  const preparation = [
    ...held(teacherSeconds, config),
    ...collections.flatMap((folder) => held(playCosts(folder, "collection"), config)),
  ];
  const ofRun = (name: string): Cost[] => held(trainCosts(inside(name)), config, train.cards);
  const ofEvaluations = (wanted: (run: string | null) => boolean): Cost[] => {
    const folders = new Set(measured.flatMap(({ run, name }) => (wanted(run) ? [name] : [])));
    return [...folders].flatMap((name) => held(playCosts(inside(name), "evaluation"), config));
  };
  const costs: ExperimentCosts = {
    format: "gcopd.experiment-costs.v1",
    experiment: costRows(
      [...preparation, ...grid.runs.flatMap(({ name }) => ofRun(name)), ...ofEvaluations(() => true)],
      price,
    ),
    cells: grid.cells.map(({ method, seed, run, parent }) => ({
      method,
      training_seed: seed,
      stages: costRows(
        [
          ...(parent === null ? [] : ofRun(parent)),
          ...ofRun(run),
          ...ofEvaluations((of) => of === run || (parent !== null && of === parent)),
        ],
        price,
      ),
    })),
  };
  await writeJson(inside("costs.json"), costs);
  return costs;
}

const hours = (seconds: number): string => (seconds / 3600).toPrecision(3);

/** The table of the whole, a row per stage, and a line per cell. */
export function costsText({ experiment, cells }: ExperimentCosts, what = "measured on"): string {
  const money = experiment.some(({ price }) => price !== null);
  const sum = (rows: readonly CostRow[], of: (row: CostRow) => number): number =>
    rows.reduce((all, row) => all + of(row), 0);
  const row = (first: string, rows: readonly CostRow[], device: string) => [
    first,
    hours(sum(rows, ({ seconds }) => seconds)),
    sum(rows, ({ gpu_hours }) => gpu_hours).toPrecision(3),
    ...(money ? [sum(rows, ({ price }) => price ?? 0).toFixed(2)] : []),
    device,
  ];
  return table(
    ["Stage", "Hours", "GPU-hours", ...(money ? ["Price"] : []), what],
    [
      ...experiment.map((each) => row(each.stage, [each], deviceOf(each))),
      row("all", experiment, ""),
      ...cells.map(({ method, training_seed, stages }) =>
        row(`${method}, seed ${training_seed}, with its parent`, stages, ""),
      ),
    ],
  );
}

const deviceOf = ({ device, gpus }: Cost): string =>
  gpus === 0 ? `${device}, no GPU` : `${gpus} × ${device}`;
