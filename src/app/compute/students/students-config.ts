/** The experiment that the page trains students by: the config of `gcopd experiment`, from a few choices. */
import {
  checkExperiment,
  type ExperimentConfig,
  type ExperimentGrid,
  experimentConfigSchema,
  experimentGrid,
  type GridConfig,
  type MethodEntry,
  needsSampledToken,
} from "../../../core/loop/index.ts";
import { METHOD_IDS, METHODS, type Method, type MethodId } from "../../../core/method/index.ts";
import { checkedBy } from "../../../core/record/describe-issue.ts";
import type { SourceSelection } from "../../../core/retrieval/selection.ts";
import { keysOfSelection } from "../../../core/retrieval/selection-keys.ts";
import type { WeightChoice } from "../../../tensor/index.ts";

/** The library's world and its tasks, which come first; unseen tasks of the same world follow. */
const WORLD = { size: "mini", world: 1 } as const;
export const TASKS = 96;
/** Decisions of an episode, and tokens of a response: those of the shipped library. */
export const MINIATURE_LIMITS = { max_decisions: 16, max_tokens: 16 } as const;

export interface StudentChoices {
  /** In the order of the registry. */
  methods: readonly MethodId[];
  /** How many trainings of each, with the seeds 1, 2, …. */
  seeds: number;
  /** Optimizer steps of each. */
  steps: number;
  /** Episodes per step. */
  batch: number;
  /** Steps between two measurements. */
  every: number;
  /** Unseen tasks that a student is measured on. */
  unseen: number;
  /** Temperature of the measurement; 0 is greedy. */
  temperature: number;
  learningRate: number;
  /** Largest norm of a step's gradient; a longer one is clipped to it. */
  maxGradNorm: number;
  /** What is compared of teacher and student, where the method compares anything and needs no other. */
  signal: "full-vocabulary" | "sampled-token";
  /** Whether the first half of the steps is vanilla in methods that begin so, as in the paper. */
  vanillaFirst: boolean;
}

type NumberChoice = Exclude<keyof StudentChoices, "methods" | "signal" | "vanillaFirst">;

/** What each can be. Halves that are no whole number of passes over all tasks take the first tasks once. */
export const STUDENT_CHOICES = {
  seeds: [1, 2, 3, 4, 6, 8, 16],
  steps: [1, 2, 4, 6, 12, 24, 48, 96, 192, 384],
  batch: [2, 4, 8, 16, 32],
  every: [1, 2, 3, 6, 12, 24, 48],
  unseen: [4, 8, 16, 32, 64, 128],
  temperature: [0, 0.4],
  learningRate: [1e-4, 3e-4, 1e-3, 3e-3],
  maxGradNorm: [0.1, 0.25, 0.5, 1],
} as const satisfies { [key in NumberChoice]: readonly number[] };

/** Those of the registration in configs/miniature/README.md, in fewer steps. */
export const DEFAULT_CHOICES: StudentChoices = {
  methods: ["opd", "gc-opd", "hindsight-only"],
  seeds: 2,
  steps: 192,
  batch: 32,
  every: 12,
  unseen: 32,
  temperature: 0.4,
  learningRate: 1e-3,
  maxGradNorm: 0.25,
  signal: "full-vocabulary",
  vanillaFirst: true,
};

/** Files as a config names them, relative to its own folder: that of the shipped library. */
export interface StudentFiles {
  teacher: string;
  student: string;
  tokenizer: string;
  library: string | string[];
  /** Absent: the environment's own. */
  prompt?: string;
}

/** What the page computes with; absent where that is the config's own default. */
export interface StudentArithmetic {
  /** Operands of matrix products. */
  compute?: "f16";
  /** How the teacher's matrices are kept. */
  teacher_dtype?: Exclude<WeightChoice, "f32">;
}

/** Passes over the tasks, and how many tasks: together so many steps, in halves of whole passes where they are even. */
function passes({ steps, batch }: Pick<StudentChoices, "steps" | "batch">) {
  const parts = steps % 2 === 0 ? 2 : 1;
  const each = (steps / parts) * batch;
  return { tasks: Math.min(TASKS, each), epochs: parts * Math.max(1, Math.round(each / TASKS)) };
}

/**
 * A method from the students' parent on. One that begins vanilla takes each stage for half of the steps; otherwise, and
 * with a single step, its last stage takes all.
 */
function entry(id: MethodId, epochs: number, { signal, vanillaFirst }: StudentChoices): MethodEntry {
  const { stages }: Method = METHODS[id];
  const halves = vanillaFirst && stages.length === 2 && epochs % 2 === 0;
  const compares = stages.every((stage) => needsSampledToken(stage) === undefined);
  return {
    id,
    epochs: stages.map((_, n) => (halves ? epochs / 2 : n === stages.length - 1 ? epochs : 0)),
    ...(compares && signal !== "sampled-token" && { signal }),
  };
}

/** The config as it is written: only what differs from the defaults. */
export function studentConfig(
  choices: StudentChoices,
  selection: SourceSelection,
  { prompt, ...files }: StudentFiles,
  { compute, teacher_dtype }: StudentArithmetic = {},
) {
  const { seeds, batch, every, unseen, temperature, learningRate, maxGradNorm } = choices;
  const { tasks, epochs } = passes(choices);
  const place = (count: number, seed: number) => ({
    name: "alfworld" as const,
    made: { count, seed, ...WORLD },
    ...(prompt === undefined ? {} : { prompt }),
    ...MINIATURE_LIMITS,
  });
  return {
    environment: place(tasks, 0),
    ...files,
    ...(compute === undefined ? {} : { compute }),
    train: {
      ...(teacher_dtype === undefined ? {} : { teacher_dtype }),
      ...keysOfSelection(selection),
      batch_size: batch,
      settings: { learning_rate: learningRate, max_grad_norm: maxGradNorm },
    },
    methods: METHOD_IDS.filter((id) => choices.methods.includes(id)).map((id) => entry(id, epochs, choices)),
    seeds: Array.from({ length: seeds }, (_, n) => n + 1),
    checkpoints: ["final", { every }],
    evaluations: { unseen: { environment: place(unseen, TASKS), seeds: [0], temperature } },
  } satisfies Partial<Record<keyof ExperimentConfig, unknown>>;
}

/** Optimizer steps of each training; fewer where episodes break off. */
export const stepsOf = (choices: StudentChoices): number => {
  const { tasks, epochs } = passes(choices);
  return epochs * Math.ceil(tasks / choices.batch);
};

/**
 * The cells of a config, each with its whole schedule: the numbers of `gcopd experiment` with the same config, where
 * methods share what they begin with.
 *
 * @throws InputError for what the command would refuse, too
 */
export function studentGrid(written: unknown): { config: GridConfig; grid: ExperimentGrid } {
  const config = checkedBy(experimentConfigSchema, written, { file: "experiment.json" });
  checkExperiment(config);
  const methods = (config.methods ?? []).filter((each) => typeof each !== "string");
  const read = { ...config, methods };
  const grid = experimentGrid(read, (name) => name);
  const alone = methods.map((each) => experimentGrid({ ...read, methods: [each] }, (name) => name));
  const bySeed = <T extends { seed: number }>(of: (one: ExperimentGrid) => T[]): T[] =>
    grid.seeds.flatMap((seed) => alone.flatMap((one) => of(one).filter((each) => each.seed === seed)));
  return {
    config: read,
    grid: { ...grid, runs: bySeed(({ runs }) => runs), cells: bySeed(({ cells }) => cells) },
  };
}
