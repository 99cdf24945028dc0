/**
 * The JSON that describes an experiment: a library is collected, a student trained, and measured before and after; or
 * several methods are compared over several training seeds (`experimentGrid`).
 */
import { z } from "zod";
import { InputError } from "../errors.ts";
import { METHOD_IDS } from "../method/index.ts";
import { isOneOf } from "../one-of.ts";
import { namedSchedule } from "./configured-method.ts";
import {
  type CollectConfig,
  collectConfigSchema,
  type EvaluateConfig,
  environmentSchema,
  evaluateConfigSchema,
} from "./live-config.ts";
import { isServed, settingsFields, type TrainConfig, trainConfigSchema } from "./train-config.ts";

const { device, compute, tokenizer } = evaluateConfigSchema.shape;
const shared = { $schema: true, environment: true, tokenizer: true, device: true, compute: true } as const;
const { method, stages, epochs, control, library } = trainConfigSchema.shape;
const { sources_per_task, augmentation, subset, terminal_failure_note, signal } = trainConfigSchema.shape;

const name = z.string().regex(/^\w[\w.+-]*$/, { error: "expected letters, digits and . + - _" });

/** A method of an experiment: the keys of a training config in which it differs from the others. */
export const methodEntrySchema = z.strictObject({
  id: name.describe("Its name in files and results."),
  label: z.string().min(1).optional().describe("Its name in tables; when absent the method's own, or `id`."),
  method: method
    .unwrap()
    .optional()
    .describe("What it is a variant of, as in a training config; `id`, where that is a method, when absent."),
  ...{ stages, epochs, control, sources_per_task, augmentation, subset, terminal_failure_note, signal },
  batch_size: z.int().min(1).optional().describe("In place of that of `train`."),
  settings: z.strictObject(settingsFields).partial().optional().describe("In place of those of `train`."),
});

export type MethodEntry = z.infer<typeof methodEntrySchema>;

const methodFile = z.string().regex(/\.json$/, {
  error: `expected ${METHOD_IDS.join(", ")}, or a file named *.json`,
});

const evaluation = evaluateConfigSchema
  .omit({ ...shared, model: true, policy: true, policy_model: true })
  .extend({ environment: environmentSchema.optional().describe("That of the training when absent.") });

export const experimentConfigSchema = z.strictObject({
  $schema: z.string().optional(),
  environment: environmentSchema.describe("Where the library is collected and the student is trained."),
  teacher: z
    .string()
    .min(1)
    .describe(
      "Model folder, hub:OWNER/NAME[@REVISION], or the address of a server (vLLM or SGLang): it collects the library and " +
        "is the frozen teacher.",
    ),
  student: z.string().min(1).describe("Model folder, or hub:OWNER/NAME[@REVISION]; it is not changed."),
  tokenizer,
  device,
  compute,
  collect: collectConfigSchema
    .omit({ ...shared, model: true })
    .prefault({})
    .describe("Other keys of a collection."),
  train: trainConfigSchema
    .omit({
      ...shared,
      ...{ library: true, episodes: true, episode_ids: true, limit: true, sample: true, watch: true },
      ...{ teacher: true, student: true, tinker: true, parent: true, first_epochs: true },
    })
    .prefault({})
    .describe("Other keys of a training run."),
  evaluate: evaluation.prefault({}).describe("Other keys of an evaluation."),
  methods: z
    .array(z.union([z.enum(METHOD_IDS), methodFile, methodEntrySchema]))
    .min(1)
    .optional()
    .describe(
      "Compare these methods: names, files of methods (*.json), or methods written here. Each is trained once per seed.",
    ),
  seeds: z
    .array(z.int().min(0))
    .min(1)
    .refine((values) => new Set(values).size === values.length, { error: "expected each one once" })
    .optional()
    .describe("With `methods`: training seeds. That of `train` when absent."),
  checkpoints: z
    .array(
      z.union([
        z.enum(["final", "best"]),
        z.strictObject({ every: z.int().min(1).describe("Optimizer steps.") }),
      ]),
    )
    .min(1)
    .optional()
    .describe(
      "With `methods`: which students are evaluated: the final one (when absent), the best one by `train.evaluate`, or " +
        "those after every so many steps.",
    ),
  evaluations: z
    .record(name, evaluation)
    .refine((named) => Object.keys(named).length > 0, { error: "expected at least one" })
    .optional()
    .describe(
      "With `methods`: several evaluations by their names, in place of `evaluate`; each has a table.",
    ),
  library: library.describe("With `methods`: sources (JSON Lines) in place of a collection."),
  gpus: z
    .int()
    .min(1)
    .optional()
    .describe(
      "With `methods`: GPUs that each part holds, those of its servers included; when absent `train.cards` for trainings, 1 for other parts.",
    ),
  price_per_gpu_hour: z
    .number()
    .min(0)
    .optional()
    .describe("With `methods`: for the cost, in the currency of your choice."),
});

export type ExperimentConfig = z.infer<typeof experimentConfigSchema>;

/** An experiment whose method files were read. */
export type GridConfig = Omit<ExperimentConfig, "methods"> & { methods: MethodEntry[] };

/** The keys that only say something of `methods`. */
const OF_METHODS = [
  ...["seeds", "checkpoints", "evaluations", "library", "gpus", "price_per_gpu_hour"],
] as const satisfies (keyof ExperimentConfig)[];

/**
 * What the schema alone cannot say.
 *
 * @throws InputError with the key
 */
export function checkExperiment(config: ExperimentConfig): void {
  const { methods, checkpoints = [], train } = config;
  const alone = OF_METHODS.find((key) => methods === undefined && config[key] !== undefined);
  if (alone !== undefined) throw new InputError("only applies with `methods`", { key: alone });
  if (methods === undefined) return;
  if (train.stages !== undefined)
    throw new InputError("is of one method: write it into `methods`", { key: "train.stages" });
  if (checkpoints.includes("best") && train.evaluate === undefined)
    throw new InputError("missing: the best checkpoint is chosen by it", { key: "train.evaluate" });
  if (checkpoints.filter((each) => typeof each === "object").length > 1)
    throw new InputError("expected one `every`", { key: "checkpoints" });
}

/**
 * The keys of a method in a training config.
 *
 * @throws InputError when it does not say what it is a variant of
 */
export function methodKeys(
  { id, label: _, settings, ...keys }: MethodEntry,
  train: ExperimentConfig["train"],
) {
  const method = keys.method ?? (isOneOf(METHOD_IDS, id) ? id : undefined);
  if (method === undefined && keys.stages === undefined)
    throw new InputError(`${id} is no known method: expected its \`method\` or its \`stages\``, {
      key: "methods",
    });
  return { ...keys, method: method ?? train.method, settings: { ...train.settings, ...settings } };
}

/** The folders of an experiment's parts, in its own. */
export const EXPERIMENT_PARTS = {
  collect: "library",
  before: "before",
  train: "train",
  after: "after",
} as const;

/** The teacher as the policy of a collection. */
function collector(teacher: string, name: string | undefined): Partial<CollectConfig> {
  if (!isServed(teacher)) return { model: teacher };
  return { policy: teacher, ...(name === undefined ? {} : { policy_model: name }) };
}

/**
 * The configs of an experiment's parts, in their order.
 *
 * @param inside the path of a name in the experiment's folder
 */
export function experimentParts(
  config: ExperimentConfig,
  inside: (name: string) => string,
): { collect: CollectConfig; before: EvaluateConfig; train: TrainConfig; after: EvaluateConfig } {
  const { evaluate, train } = config;
  return {
    collect: collectPart(config),
    before: evaluatePart(config, evaluate, config.student),
    train: trainPart(config, train, inside(`${EXPERIMENT_PARTS.collect}/sources.jsonl`)),
    after: evaluatePart(config, evaluate, inside(EXPERIMENT_PARTS.train)),
  };
}

type Of = Omit<ExperimentConfig, "methods">;

const common = ({ tokenizer, device, compute }: Of) => ({
  ...(tokenizer === undefined ? {} : { tokenizer }),
  device,
  compute,
});

export const collectPart = (of: Of): CollectConfig => ({
  ...common(of),
  ...collector(of.teacher, of.train.teacher_model),
  ...of.collect,
  environment: of.environment,
});

export const evaluatePart = (of: Of, keys: Of["evaluate"], model: string): EvaluateConfig => ({
  ...common(of),
  ...keys,
  environment: keys.environment ?? of.environment,
  model,
});

export const trainPart = (of: Of, keys: Of["train"], library: TrainConfig["library"]): TrainConfig => ({
  ...common(of),
  ...keys,
  environment: of.environment,
  library,
  // It collects the library; a method whose teacher is the student itself has no other.
  ...(namedSchedule(keys).teacher === undefined ? { teacher: of.teacher } : {}),
  student: of.student,
});
