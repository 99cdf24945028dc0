/** The runs of a comparison: every method × every training seed, with the parents that they share. */
import { InputError } from "../errors.ts";
import { type Stage, stagesTaken } from "../method/method.ts";
import { methodLabel } from "../method/methods.ts";
import { checkTrainConfig } from "./check-train-config.ts";
import { configuredMethod, configuredTeacher, STUDENT_TEACHER } from "./configured-method.ts";
import {
  collectPart,
  evaluatePart,
  type GridConfig,
  type MethodEntry,
  methodKeys,
  trainPart,
} from "./experiment-config.ts";
import type { CollectConfig, EvaluateConfig } from "./live-config.ts";
import type { TrainConfig } from "./train-config.ts";

/** A training run of an experiment. */
export interface GridRun {
  /** Its folder in that of the experiment; its config is the file of that name with `.json`. */
  name: string;
  seed: number;
  config: TrainConfig;
  /** That it takes itself. */
  epochs: number;
  /** The run that it continues. */
  parent: string | null;
}

/** One method trained with one seed. */
export interface GridCell {
  method: string;
  seed: number;
  /** Name of its run, and of the run that it continues; null where it has its whole schedule to itself. */
  run: string;
  parent: string | null;
}

export interface ExperimentGrid {
  methods: { id: string; label: string }[];
  seeds: number[];
  /** Epochs of each cell, those of its parent included: so many episodes of each task. */
  epochs: number;
  /** Null where the config names a library. */
  collect: CollectConfig | null;
  /** The runs in an order in which parents come before their children. */
  runs: GridRun[];
  cells: GridCell[];
  /** The evaluations by their names, of any model. */
  evaluations: { name: string; of: (model: string) => EvaluateConfig }[];
  checkpoints: NonNullable<GridConfig["checkpoints"]>;
}

/** Where a grid's library is collected, in its folder. */
export const GRID_LIBRARY = "library";

/** A method with its schedule, before it is known which part of that a parent takes. */
interface Planned {
  entry: MethodEntry;
  config: TrainConfig;
  stages: readonly Stage[];
}

/**
 * The parts of a comparison. Methods that begin with the same stage, under the same settings, share a run of it per seed:
 * as many of its epochs as all of them take ("the same vanilla OPD parent and continuation budget", appendix). The numbers
 * are those of runs that never stopped.
 *
 * @param inside the path of a name in the experiment's folder
 * @throws InputError when two methods have one id, their epochs differ, or a schedule is not sound
 */
export function experimentGrid(config: GridConfig, inside: (name: string) => string): ExperimentGrid {
  const { methods, train, environment, evaluate } = config;
  const seeds = config.seeds ?? [train.seed];
  const twice = methods.find(({ id }, n) => methods.findIndex((other) => other.id === id) < n);
  if (twice !== undefined) throw new InputError(`${twice.id} is named twice`, { key: "methods" });
  const checkpoints = config.checkpoints ?? ["final"];
  const keepEvery = checkpoints.find((each) => typeof each === "object")?.every;
  const library = config.library ?? inside(`${GRID_LIBRARY}/sources.jsonl`);
  const planned = methods.map((entry): Planned => {
    const keys = { ...train, ...methodKeys(entry, train) };
    const whole = trainPart(
      config,
      keepEvery === undefined ? keys : { ...keys, keep_every: keepEvery },
      library,
    );
    checkTrainConfig(whole);
    return { entry, config: whole, stages: configuredMethod(whole).stages };
  });
  const epochs = sameEpochs(planned);
  const shared = sharedStages(planned);
  const runs: GridRun[] = [];
  const cells: GridCell[] = [];
  for (const seed of seeds) {
    for (const { name, members, taken } of shared) {
      const [{ config: first, stages }] = members as [Planned, ...Planned[]];
      runs.push({
        name: `parents/${name}-seed-${seed}`,
        seed,
        config: { ...first, seed, epochs: stages.map((_, n) => (n === 0 ? taken : 0)) },
        epochs: taken,
        parent: null,
      });
    }
    for (const each of planned) {
      const { entry, config: whole, stages } = each;
      const family = shared.find(({ members }) => members.includes(each));
      const parent = family === undefined ? null : `parents/${family.name}-seed-${seed}`;
      const run: GridRun = {
        name: `cells/${entry.id}-seed-${seed}`,
        seed,
        config: {
          ...whole,
          seed,
          ...(family === undefined || parent === null
            ? {}
            : { ...continued(stages, family.taken), parent: inside(parent) }),
        },
        epochs: epochs - (family?.taken ?? 0),
        parent,
      };
      runs.push(run);
      cells.push({ method: entry.id, seed, run: run.name, parent });
    }
  }
  const evaluations = Object.entries(config.evaluations ?? { [environment.name]: evaluate });
  return {
    methods: methods.map(({ id, label = methodLabel(id) }) => ({ id, label })),
    seeds,
    epochs,
    collect: config.library === undefined ? collectPart(config) : null,
    runs,
    cells,
    evaluations: evaluations.map(([name, keys]) => ({
      name,
      of: (model) => evaluatePart(config, keys, model),
    })),
    checkpoints,
  };
}

/** What is left of a schedule after so many epochs of its first stage, in the keys of a training config. */
function continued(stages: readonly Stage[], taken: number): Pick<TrainConfig, "epochs" | "first_epochs"> {
  const left = stages.map(({ epochs }, n) => (n === 0 ? epochs - taken : epochs));
  return left[0] === 0 ? { epochs: left } : { epochs: left, first_epochs: [taken] };
}

/** @throws InputError: every cell gets the same number of episodes */
function sameEpochs(planned: readonly Planned[]): number {
  const [first, ...others] = planned.map(({ entry, stages }) => ({ id: entry.id, epochs: total(stages) }));
  const other = others.find(({ epochs }) => epochs !== first!.epochs);
  if (other === undefined) return first!.epochs;
  throw new InputError(
    `expected as many epochs for each, so that all see the same number of episodes: ${first!.id} has ${first!.epochs}, ${other.id} has ${other.epochs}`,
    { key: "methods" },
  );
}

const total = (stages: readonly Stage[]): number => stages.reduce((sum, { epochs }) => sum + epochs, 0);

interface Shared {
  /** Of the stage, and different from those of the other shared ones. */
  name: string;
  members: Planned[];
  /** Epochs that the parent takes. */
  taken: number;
}

/** The first stages that several methods begin with, where each of them has something left to do afterwards. */
function sharedStages(planned: readonly Planned[]): Shared[] {
  const families = new Map<string, Planned[]>();
  for (const each of planned) {
    const [first] = each.stages;
    if (first === undefined || first.epochs === 0 || stagesTaken(each).length === 0) continue;
    // Their schedules run over all updates of the stage, so that a part of it is another training; and the student that
    // teaches itself does so as the run began.
    if (configuredTeacher(each.config) === STUDENT_TEACHER) continue;
    if (first.sampling !== undefined || first.weights !== undefined || first.reward !== undefined) continue;
    const { epochs: _, firstEpoch: __, ...stage } = first;
    const key = JSON.stringify([stage, withoutMethod(each.config)]);
    families.set(key, [...(families.get(key) ?? []), each]);
  }
  const names = new Map<string, number>();
  return [...families.values()].flatMap((members) => {
    const taken = Math.min(...members.map(({ stages }) => stages[0]!.epochs));
    if (members.length < 2 || members.some(({ stages }) => total(stages) === taken)) return [];
    const stage = members[0]!.stages[0]!.name.replaceAll(/[^\w.+-]+/g, "-");
    const count = (names.get(stage) ?? 0) + 1;
    names.set(stage, count);
    return [{ name: count === 1 ? stage : `${stage}-${count}`, members, taken }];
  });
}

/** What decides a run's numbers beside its schedule. */
function withoutMethod(config: TrainConfig): object {
  const { method, stages, epochs, control, ...others } = config;
  const { sources_per_task, augmentation, subset, terminal_failure_note, ...rest } = others;
  return rest;
}
