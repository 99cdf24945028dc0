/** The runs of a comparison: every method × every training seed, with the parents that they share. */
import { changedKeys } from "../changed-keys.ts";
import { InputError } from "../errors.ts";
import { type Stage, stagesTaken } from "../method/method.ts";
import { methodLabel } from "../method/methods.ts";
import { countOf } from "../plural.ts";
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

/** The configs of runs by their names, as the experiment's folder has them; null for one that it has not. */
export type BegunRuns = (name: string) => TrainConfig | null;

/** What a parent takes of a schedule: so many epochs of its first stage. */
interface Part {
  parent: string;
  taken: number;
}

/** A method with its schedule, before it is known which part of that a parent takes. */
interface Planned {
  entry: MethodEntry;
  config: TrainConfig;
  stages: readonly Stage[];
}

/**
 * The parts of a comparison. Methods that begin with the same stage, under the same settings, share a run of it per seed:
 * as many of its epochs as all of them take ("the same vanilla OPD parent and continuation budget", appendix). The numbers
 * are those of runs that never stopped, so a cell that has begun keeps its parent, or has none, whatever methods stand
 * beside it now.
 *
 * @param inside the path of a name in the experiment's folder
 * @throws InputError when two methods have one id, their epochs differ, or a schedule is not sound; and when the best
 *   checkpoint of a cell that has begun would be one of other steps than in a new folder
 */
export function experimentGrid(
  config: GridConfig,
  inside: (name: string) => string,
  begun: BegunRuns = () => null,
): ExperimentGrid {
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
  const shared = sharedStages(planned, (name, member, taken) =>
    seeds.every((seed) => {
      const there = begun(parentRun(name, seed));
      return there === null || isParent(there, member, taken);
    }),
  );
  const runs: GridRun[] = [];
  const cells: GridCell[] = [];
  for (const seed of seeds) {
    const parents = new Map<string, GridRun>();
    const children: GridRun[] = [];
    for (const each of planned) {
      const { entry, config: whole, stages } = each;
      const name = `cells/${entry.id}-seed-${seed}`;
      const family = shared.find(({ members }) => members.includes(each));
      const alone = family === undefined ? null : { ...family, parent: parentRun(family.name, seed) };
      const there = begun(name);
      const kept = begunPart(there, inside, begun);
      // Of a schedule that was longer, it is refused as another config.
      const part = kept === undefined || (kept !== null && kept.taken > stages[0]!.epochs) ? alone : kept;
      const run: GridRun = {
        name,
        seed,
        config: {
          ...whole,
          seed,
          ...(part === null ? {} : { ...continued(stages, part.taken), parent: inside(part.parent) }),
        },
        epochs: epochs - (part?.taken ?? 0),
        parent: part?.parent ?? null,
      };
      // Of another config, it is refused for that.
      if (checkpoints.includes("best") && there !== null && isSameRun(there, run.config))
        checkBest(name, part, alone);
      if (part !== null && !parents.has(part.parent))
        parents.set(part.parent, parentOf(each, part, seed, begun(part.parent)));
      children.push(run);
      cells.push({ method: entry.id, seed, run: name, parent: run.parent });
    }
    runs.push(...parents.values(), ...children);
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

const parentRun = (name: string, seed: number): string => `parents/${name}-seed-${seed}`;

/** The part that the parent of a cell takes; null where the cell began without one, undefined where it has not begun. */
function begunPart(
  cell: TrainConfig | null,
  inside: (name: string) => string,
  begun: BegunRuns,
): Part | null | undefined {
  if (cell === null) return undefined;
  if (cell.parent === undefined) return null;
  const parent = cell.parent.split(/[\\/]/).slice(-2).join("/");
  const taken = inside(parent) === cell.parent ? begun(parent)?.epochs?.[0] : undefined;
  return taken === undefined ? undefined : { parent, taken };
}

/**
 * The parent of a cell. One that is there may be named after another method: its schedule stays as it is where it begins
 * with the cell's stage.
 */
function parentOf(
  { config, stages }: Planned,
  { parent, taken }: Part,
  seed: number,
  there: TrainConfig | null,
): GridRun {
  const own = { ...config, seed, epochs: stages.map((_, n) => (n === 0 ? taken : 0)) };
  const same = there !== null && firstStage(there) === firstStage(config);
  return {
    name: parent,
    seed,
    config: same ? { ...own, ...split(there).schedule } : own,
    epochs: taken,
    parent: null,
  };
}

/** Whether a run takes so many epochs of a method's first stage, under the method's settings. */
const isParent = (run: TrainConfig, { config }: Planned, taken: number): boolean =>
  run.epochs?.[0] === taken && firstStage(run) === firstStage(config) && haveSameSettings(run, config);

const haveSameSettings = (a: TrainConfig, b: TrainConfig): boolean =>
  changedKeys(settingsOf(a), settingsOf(b)).length === 0;

const isSameRun = (a: TrainConfig, b: TrainConfig): boolean =>
  haveSameSettings(a, b) && changedKeys(split(a).schedule, split(b).schedule).length === 0;

/** A run is measured at its end, too: with another parent, there would be other students to choose from. */
function checkBest(cell: string, part: Part | null, alone: Part | null): void {
  if (part?.taken === alone?.taken) return;
  const told = (of: Part | null) => (of === null ? "no parent" : `a parent of ${countOf(of.taken, "epoch")}`);
  throw new InputError(
    `"best" also chooses among the ends of parents: ${cell} began with ${told(part)}, and in a new folder it would have ${told(alone)}; use another output folder, or the earlier methods`,
    { key: "checkpoints" },
  );
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

/**
 * The first stages that several methods begin with, where each of them has something left to do afterwards.
 *
 * @param isFree whether a name is that of no other stage in the experiment's folder
 */
function sharedStages(
  planned: readonly Planned[],
  isFree: (name: string, member: Planned, taken: number) => boolean,
): Shared[] {
  const families = new Map<string, Planned[]>();
  for (const each of planned) {
    const [first] = each.stages;
    if (first === undefined || first.epochs === 0 || stagesTaken(each).length === 0) continue;
    // Their schedules run over all updates of the stage, so that a part of it is another training; and the student that
    // teaches itself does so as the run began.
    if (configuredTeacher(each.config) === STUDENT_TEACHER) continue;
    if (first.sampling !== undefined || first.weights !== undefined || first.reward !== undefined) continue;
    const key = JSON.stringify([firstStage(each.config), settingsOf(each.config)]);
    families.set(key, [...(families.get(key) ?? []), each]);
  }
  const names = new Set<string>();
  return [...families.values()].flatMap((members) => {
    const taken = Math.min(...members.map(({ stages }) => stages[0]!.epochs));
    if (members.length < 2 || members.some(({ stages }) => total(stages) === taken)) return [];
    const stage = members[0]!.stages[0]!.name.replaceAll(/[^\w.+-]+/g, "-");
    let name = stage;
    for (let n = 2; names.has(name) || !isFree(name, members[0]!, taken); n += 1) name = `${stage}-${n}`;
    names.add(name);
    return [{ name, members, taken }];
  });
}

/** What decides the numbers of a schedule's first stage, its epochs apart. */
function firstStage(config: TrainConfig): string {
  const { epochs: _, firstEpoch: __, ...stage } = configuredMethod(config).stages[0]!;
  return JSON.stringify(stage);
}

/** A config's keys: those of its schedule, and all others. */
function split(config: TrainConfig) {
  const { method, stages, epochs, control, ...more } = config;
  const { sources_per_task, augmentation, subset, terminal_failure_note, ...others } = more;
  const selection = { control, sources_per_task, augmentation, subset, terminal_failure_note };
  return { schedule: { method, stages, epochs, ...selection }, others };
}

/** What decides a run's numbers beside its schedule and seed. */
function settingsOf(config: TrainConfig): object {
  const { seed, device, budget, ...settings } = split(config).others;
  return settings;
}
