/** The trainings of a comparison as far as they got: what each measured, and where it can go on. Pure. */
import { type EvaluatedEpisode, evaluationResults, overSeeds } from "../../../core/evaluation/index.ts";
import type { ExperimentGrid, GridRun } from "../../../core/loop/index.ts";
import type { Range } from "../../base/eta.ts";
import type { CellEvent, KeptStep } from "../worker/student-cell.ts";
import type { StudentChoices, studentConfig } from "./students-config.ts";

/** What the student after so many steps achieved on the unseen tasks. */
export interface MeasuredStudent {
  steps: number;
  /** Share of tasks won, in percent. */
  sr: number;
  episodes: readonly EvaluatedEpisode[];
  seconds: number;
}

/** Episodes of one batch: sampled, of them without an update, and of these because the student had no turn. */
interface BatchEpisodes {
  sampled: number;
  leftOut: number;
  noTurn: number;
}

/** One method with one seed. */
export interface StudentCell {
  method: string;
  seed: number;
  run: GridRun;
  state: "waiting" | "running" | "done" | "failed";
  /** Why it failed. */
  reason: string | null;
  /** Optimizer steps. */
  done: number;
  total: number;
  /** By rising step, from the first one after training began. */
  measured: readonly MeasuredStudent[];
  /** By batch: one that is played again after a stop takes its own place. */
  batches: Readonly<Record<string, BatchEpisodes>>;
  /** What each step measured, by its number less 1: of the student before its update. */
  updates: readonly { loss: number; gradNorm: number; seconds: number }[];
  kept: KeptStep | null;
}

export interface Study {
  /** Equal for the same choices, library and models. */
  key: string;
  choices: StudentChoices;
  config: ReturnType<typeof studentConfig>;
  grid: ExperimentGrid;
  /** Tasks that each cell trains on. */
  tasks: number;
  cells: readonly StudentCell[];
  /** The parent before training; null until it is measured. */
  untrained: MeasuredStudent | null;
  /** The unseen tasks that the game's shortest plan solves within the limit. */
  oracle: { won: number; tasks: number } | null;
  /** What computed it: models and device. */
  about: { teacher: string | null; student: string; device: string } | null;
}

/** The cells of a grid before anything was trained. */
export function waitingCells({ cells, runs }: ExperimentGrid, steps: number): StudentCell[] {
  return cells.map(({ method, seed, run: name }) => ({
    ...{ method, seed, run: runs.find((run) => run.name === name)! },
    ...{ state: "waiting" as const, reason: null, done: 0, total: steps },
    ...{ measured: [], batches: {}, updates: [], kept: null },
  }));
}

/** A measurement with its figure. */
export function measuredStudent({ steps, episodes, seconds }: Omit<MeasuredStudent, "sr">): MeasuredStudent {
  return { steps, episodes, seconds, sr: evaluationResults(episodes).sr.mean };
}

/** A cell after one of its events. */
export function followCell(cell: StudentCell, event: CellEvent): StudentCell {
  if (event.type === "kept") return { ...cell, kept: event.kept };
  if (event.type === "measured") {
    if (event.steps === 0) return cell;
    const others = cell.measured.filter(({ steps }) => steps !== event.steps);
    const measured = [...others, measuredStudent(event)].sort((a, b) => a.steps - b.steps);
    return { ...cell, measured };
  }
  if (event.type !== "loop") return cell;
  const { event: loop } = event;
  switch (loop.type) {
    case "start":
      return { ...cell, total: loop.steps, done: loop.resumedFrom ?? 0 };
    case "rollout":
    case "excluded": {
      const key = JSON.stringify([loop.stage, loop.epoch, loop.batch]);
      const before = cell.batches[key] ?? { sampled: 0, leftOut: 0, noTurn: 0 };
      const batch =
        loop.type === "rollout"
          ? { sampled: loop.episodes, leftOut: 0, noTurn: 0 }
          : {
              ...before,
              leftOut: loop.episodes.length,
              noTurn: loop.episodes.filter((each) => each.noTurn).length,
            };
      const total = loop.type === "excluded" ? loop.steps : cell.total;
      return { ...cell, total, batches: { ...cell.batches, [key]: batch } };
    }
    case "updated": {
      const { metrics, seconds } = loop;
      const updates = [...cell.updates];
      updates[loop.step - 1] = { loss: metrics.loss, gradNorm: metrics.gradNorm, seconds };
      return { ...cell, done: loop.step, updates };
    }
    case "fault":
      return { ...cell, done: loop.step };
    default:
      return cell;
  }
}

/** The mean of the students after a step, over the seeds that have come so far. */
export interface CurvePoint {
  steps: number;
  n: number;
  mean: number;
  /** 95 %, Student's t over training seeds; null for one. */
  interval: readonly [number, number] | null;
}

export interface Curve {
  method: string;
  label: string;
  points: CurvePoint[];
  /** Each training by itself. */
  seeds: { seed: number; points: { steps: number; sr: number }[] }[];
}

/** A curve per method, from the parent on. */
export function curvesOf({ grid, cells, untrained }: Study): Curve[] {
  return grid.methods.map(({ id, label }) => {
    const own = cells.filter(({ method, measured }) => method === id && measured.length > 0);
    const steps = [...new Set(own.flatMap(({ measured }) => measured.map((each) => each.steps)))];
    const points = steps
      .sort((a, b) => a - b)
      .map((at): CurvePoint => {
        const values = own.flatMap(({ measured }) =>
          measured.flatMap((each) => (each.steps === at ? [each.sr] : [])),
        );
        const { n, mean, interval } = overSeeds(values);
        return { steps: at, n, mean, interval };
      });
    const parent = untrained === null ? [] : [{ steps: 0, sr: untrained.sr }];
    return {
      method: id,
      label,
      points:
        points.length === 0 || untrained === null
          ? points
          : [{ steps: 0, n: 1, mean: untrained.sr, interval: null }, ...points],
      seeds: own.map(({ seed, measured }) => ({
        seed,
        points: [...parent, ...measured.map(({ steps: at, sr }) => ({ steps: at, sr }))],
      })),
    };
  });
}

const meanOf = (values: readonly number[]): number | null =>
  values.length === 0 ? null : values.reduce((sum, value) => sum + value, 0) / values.length;

/**
 * Seconds that are left, by the mean of the steps that each method took so far. A method that took none yet is counted by
 * the fastest of the others, so that the range has no end.
 *
 * @returns null before the first step
 */
export function secondsLeft({ grid, cells, untrained, choices }: Study): Range | null {
  const known = new Map<string, number>();
  for (const { id } of grid.methods) {
    const mean = meanOf(
      cells.flatMap(({ method, updates }) => (method === id ? updates.map(({ seconds }) => seconds) : [])),
    );
    if (mean !== null) known.set(id, mean);
  }
  const played = [...(untrained === null ? [] : [untrained]), ...cells.flatMap(({ measured }) => measured)];
  const measuring = meanOf(played.map(({ seconds }) => seconds));
  if (known.size === 0 || measuring === null) return null;
  const least = Math.min(...known.values());
  let low = 0;
  let open = false;
  for (const { method, state, done, total } of cells) {
    if (state === "done" || state === "failed") continue;
    const left = total - done;
    const looks = Math.ceil(total / choices.every) - Math.floor(done / choices.every);
    low += left * (known.get(method) ?? least) + looks * measuring;
    open ||= left > 0 && !known.has(method);
  }
  return { low, high: open ? Number.POSITIVE_INFINITY : low };
}
