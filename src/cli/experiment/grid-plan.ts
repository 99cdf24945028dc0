/** What a comparison will need, before it starts: its parts with their commands, memory, episodes and, probed, GPU-hours. */
import { basename, join } from "node:path";
import { InputError } from "../../core/errors.ts";
import {
  COST_STAGES,
  type Cost,
  type EnvironmentConfig,
  type ExperimentGrid,
  experimentGrid,
  type GridConfig,
  taskNotes,
} from "../../core/loop/index.ts";
import { inTemporaryFolder } from "../../node/whole-file.ts";
import { quoted } from "../../worker/launch/shell.ts";
import { table } from "../demo/table.ts";
import { progress } from "../io.ts";
import { openGames } from "../live/open-games.ts";
import { playCosts } from "../live/play-seconds.ts";
import { runTraining } from "../train/run.ts";
import type { ToldPlan } from "../train/training-run.ts";
import { writeCosts } from "./grid-costs.ts";
import { GridParts } from "./grid-parts.ts";
import { type GridOutcome, runGrid } from "./grid-run.ts";
import { inThisProcess } from "./part.ts";
import { type ScheduledRun, scheduledRuns } from "./scheduled-costs.ts";

interface Range {
  low: number;
  high: number;
}

/** A stage of the whole experiment, as a probe says. */
export interface ProjectedCost extends Pick<Cost, "stage" | "device" | "gpus"> {
  seconds: Range;
  gpu_hours: Range;
  /** Null without a price per GPU-hour. */
  price: Range | null;
}

export interface GridPlan {
  parts: { name: string; config: string; command: string }[];
  /** Evaluations that follow: their students, and so their configs, are known only after their runs. */
  later: string[];
  /** Episodes of students and executions of the teacher, all cells together. A parent counts once. */
  work: { tasks: number; executions: number; training_episodes: number; evaluation_episodes: number };
  notes: string[];
  /** Of the runs of one method: bytes of the device, and why they would be refused. */
  memory: { method: string; total: number; problem: string | null }[];
  /**
   * Null without a probe. `scheduled`: the methods whose schedules change how much of an episode is played, with the
   * student's decisions per episode over the whole training.
   */
  projected: {
    tasks: number;
    stages: ProjectedCost[];
    scheduled: { method: string; decisions: Range }[];
  } | null;
}

interface Options {
  /** The config's, for messages. */
  file: string;
  /** Tasks of a probe. */
  probe: number | undefined;
}

/** @throws InputError for what the experiment itself would refuse */
export async function planGrid(
  config: GridConfig,
  parts: GridParts,
  { file, probe }: Options,
): Promise<GridPlan> {
  const { grid, inside } = parts;
  const training = await taskNames(config.environment);
  const measured: PlayedEnvironments = [];
  for (const { name, of } of grid.evaluations) {
    const { environment, seeds } = of(config.student);
    measured.push({ name, seeds: seeds.length, environment, tasks: await taskNames(environment) });
  }
  const counts = countEpisodes(config, grid, training.length, measured);
  return {
    parts: parts.known().map(({ name, command }) => ({
      name,
      config: inside(`${name}.json`),
      command: `gcopd ${command} --config ${quoted(inside(`${name}.json`))} --out ${quoted(inside(name))}`,
    })),
    later: parts.later(),
    work: counts,
    notes: taskNotes(config, grid),
    memory: await memoryOfMethods(config, file),
    projected:
      probe === undefined ? null : await probed(config, { training, measured, counts, tasks: probe, file }),
  };
}

type PlayedEnvironments = { name: string; seeds: number; environment: EnvironmentConfig; tasks: string[] }[];

async function taskNames(environment: EnvironmentConfig): Promise<string[]> {
  const games = await openGames(environment);
  try {
    return games.tasks.map(({ task }) => task);
  } finally {
    await games.close();
  }
}

function countEpisodes(
  { collect }: Pick<GridConfig, "collect">,
  grid: ExperimentGrid,
  tasks: number,
  measured: PlayedEnvironments,
): GridPlan["work"] {
  const steps = grid.runs.flatMap(({ name, config: { batch_size: batch } }) =>
    grid.cells.filter(({ run }) => run === name).map(() => grid.epochs * Math.ceil(tasks / batch)),
  );
  // The untrained one, too. A checkpoint that several cells share, or that has several names, is measured once: these
  // are the most.
  const students = grid.checkpoints
    .flatMap((which) => steps.map((all) => (typeof which === "object" ? Math.floor(all / which.every) : 1)))
    .reduce((sum, each) => sum + each, 1);
  return {
    tasks,
    executions: grid.collect === null ? 0 : tasks * collect.repetitions,
    training_episodes: tasks * grid.runs.reduce((sum, { epochs }) => sum + epochs, 0),
    evaluation_episodes:
      students * measured.reduce((sum, { seeds, tasks: all }) => sum + seeds * all.length, 0),
  };
}

/** As `gcopd train --plan` measures it, of each method's whole schedule: the library and the parents are still to come. */
async function memoryOfMethods(config: GridConfig, file: string): Promise<GridPlan["memory"]> {
  const memory: GridPlan["memory"] = [];
  for (const method of config.methods) {
    const alone = experimentGrid(
      { ...config, methods: [method], seeds: [config.train.seed] },
      (name) => name,
    );
    const [run] = alone.runs;
    if (run === undefined) continue;
    const { library: _, ...whole } = run.config;
    const told: ToldPlan[] = [];
    await runTraining({
      config: whole,
      configFile: file,
      out: "",
      onEvent: () => undefined,
      onNote: progress,
      planOnly: (plan) => told.push(plan),
    });
    for (const { plan, problem } of told) memory.push({ method: method.id, total: plan.total, problem });
  }
  return memory;
}

interface Probe {
  training: string[];
  measured: PlayedEnvironments;
  counts: GridPlan["work"];
  tasks: number;
  file: string;
}

/**
 * Does the whole experiment on the first few tasks with one seed, in a folder that is deleted again, and takes what it
 * cost to all tasks and seeds. `other` is opening models, which comes once a part, and checkpoints, which grow with the
 * tasks: its range is from one to the other. That of the evaluations is from the fastest to the slowest of the probe's.
 */
async function probed(
  config: GridConfig,
  { training, measured, counts, tasks, file }: Probe,
): Promise<GridPlan["projected"]> {
  const few = (environment: EnvironmentConfig, names: readonly string[]): EnvironmentConfig => {
    const { goals: _, ...place } = environment;
    return { ...place, tasks: names.slice(0, tasks) };
  };
  const { evaluate: _, ...train } = config.train;
  const seeds = config.seeds ?? [train.seed];
  const evaluations = config.evaluations ?? { [config.environment.name]: config.evaluate };
  const small: GridConfig = {
    ...config,
    environment: few(config.environment, training),
    train,
    seeds: seeds.slice(0, 1),
    checkpoints: ["final"],
    evaluations: Object.fromEntries(
      measured.map(({ name, environment, tasks: names }) => [
        name,
        { ...evaluations[name]!, environment: few(environment, names) },
      ]),
    ),
  };
  return inTemporaryFolder("gcopd-probe-", async (folder) => {
    const inside = (name: string) => join(folder, name);
    const grid = experimentGrid(small, inside);
    const parts = new GridParts(grid, config.student, inside);
    await parts.claimKnown();
    const outcome = await runGrid(parts, inThisProcess(inside));
    if (outcome === null) throw new InputError("the probe was interrupted", { file });
    const [fault] = outcome.deviations;
    if (fault !== undefined)
      throw new InputError(`the probe failed in ${fault.part}: ${fault.reason}`, { file });
    const taken = Math.min(tasks, training.length);
    const schedules = await scheduledRuns(grid, {
      inside,
      measured: outcome.measured,
      tasks: training.length,
      probed: taken,
    });
    return {
      tasks: taken,
      stages: await projected(small, grid, outcome, {
        inside,
        schedules,
        scale: training.length / taken,
        seeds: seeds.length,
        counts,
        measured,
        tasks,
      }),
      scheduled: grid.cells.flatMap(({ method, run }) =>
        schedules.flatMap((each) => (each.run === run ? [{ method, decisions: each.decisions }] : [])),
      ),
    };
  });
}

async function projected(
  small: GridConfig,
  grid: ExperimentGrid,
  { measured: played }: GridOutcome,
  {
    inside,
    schedules,
    scale,
    seeds,
    counts,
    measured,
    tasks,
  }: Pick<Probe, "counts" | "measured" | "tasks"> & {
    inside: (name: string) => string;
    schedules: readonly ScheduledRun[];
    scale: number;
    seeds: number;
  },
): Promise<ProjectedCost[]> {
  const costs = await writeCosts(small, grid, played, inside);
  // What each of the probe's evaluations took for one episode.
  const rates: number[] = [];
  for (const each of played) {
    const seconds = playCosts(inside(each.name), "evaluation").reduce((sum, cost) => sum + cost.seconds, 0);
    const place = measured.find(({ name }) => name === each.evaluation);
    if (place !== undefined) rates.push(seconds / (place.seeds * Math.min(tasks, place.tasks.length)));
  }
  const range = ({ stage, seconds }: Cost): Range => {
    switch (stage) {
      case "teacher training":
        return { low: seconds, high: seconds };
      case "collection":
      case "verification":
        // A library that is there already has its whole cost.
        return small.library === undefined ? both(seconds * scale) : both(seconds);
      case "evaluation":
        return {
          low: Math.min(...rates) * counts.evaluation_episodes,
          high: Math.max(...rates) * counts.evaluation_episodes,
        };
      case "other":
        return { low: seconds * seeds, high: seconds * scale * seeds };
      default: {
        // Of one method × seed each; the trainings of one experiment run on one device.
        const own = schedules.map(({ probed, seconds: whole }) => ({
          probed: probed[stage],
          whole: whole[stage],
        }));
        const plain = seconds - own.reduce((sum, each) => sum + each.probed, 0);
        const of = (bound: keyof Range): number =>
          seeds * (plain * scale + own.reduce((sum, { whole }) => sum + whole[bound], 0));
        return { low: of("low"), high: of("high") };
      }
    }
  };
  return COST_STAGES.flatMap((stage) => costs.experiment.filter((row) => row.stage === stage)).map((row) => {
    const seconds = range(row);
    const each = (factor: number): Range => ({ low: seconds.low * factor, high: seconds.high * factor });
    const hours = each(row.gpus / 3600);
    const { price_per_gpu_hour: price } = small;
    return {
      ...{ stage: row.stage, device: row.device, gpus: row.gpus, seconds, gpu_hours: hours },
      price: price === undefined ? null : each((price * row.gpus) / 3600),
    };
  });
}

const both = (seconds: number): Range => ({ low: seconds, high: seconds });

/** The plan as text. */
export function planText({ parts, later, work, notes, memory, projected: costs }: GridPlan): string {
  const span = ({ low, high }: Range, digits = 3): string =>
    low === high ? low.toPrecision(digits) : `${low.toPrecision(digits)}–${high.toPrecision(digits)}`;
  const money = costs?.stages.some(({ price }) => price !== null) ?? false;
  const total = (of: (stage: ProjectedCost) => Range): Range => ({
    low: costs?.stages.reduce((sum, stage) => sum + of(stage).low, 0) ?? 0,
    high: costs?.stages.reduce((sum, stage) => sum + of(stage).high, 0) ?? 0,
  });
  const hoursOf = ({ seconds: { low, high } }: ProjectedCost): Range => ({
    low: low / 3600,
    high: high / 3600,
  });
  const priceOf = ({ price }: ProjectedCost): Range => price ?? { low: 0, high: 0 };
  return [
    table(
      ["part", "command"],
      parts.map(({ name, command }) => [name, command]),
    ),
    ...(later.length === 0
      ? []
      : [
          `Evaluations of checkpoints (${[...new Set(later.map((name) => basename(name)))].join(", ")}) come after their runs; gcopd experiment writes their configs then.`,
        ]),
    `${work.tasks} training tasks, ${work.executions} executions of the teacher beside the plans, ` +
      `${work.training_episodes} episodes of training, at most ${work.evaluation_episodes} of evaluations ` +
      "(those during a training not counted)",
    ...notes,
    table(
      ["method", "GiB of the device", "problem"],
      memory.map(({ method, total: bytes, problem }) => [
        method,
        (bytes / 2 ** 30).toFixed(2),
        problem ?? "none",
      ]),
    ),
    ...(costs === null
      ? []
      : [
          `Projected from a probe of ${costs.tasks} tasks and one training seed:`,
          ...(costs.scheduled.length === 0
            ? []
            : [
                "Decisions of the student per episode by the schedule, over the whole training: " +
                  `${costs.scheduled.map(({ method, decisions }) => `${method} ${span(decisions)}`).join(", ")}.`,
              ]),
          table(
            ["stage", "hours", "GPU-hours", ...(money ? ["price"] : []), "probed on"],
            [
              ...costs.stages.map((stage) => [
                ...[stage.stage, span(hoursOf(stage)), span(stage.gpu_hours)],
                ...(money ? [span(priceOf(stage))] : []),
                stage.gpus === 0 ? `${stage.device}, no GPU` : `${stage.gpus} × ${stage.device}`,
              ]),
              [
                ...["all", span(total(hoursOf)), span(total(({ gpu_hours }) => gpu_hours))],
                ...(money ? [span(total(priceOf))] : []),
                "",
              ],
            ],
          ),
        ]),
  ].join("\n\n");
}
