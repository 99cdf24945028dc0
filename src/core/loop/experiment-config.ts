/** The JSON that describes one comparison: a library is collected, a student trained, and measured before and after. */
import { z } from "zod";
import {
  type CollectConfig,
  collectConfigSchema,
  type EvaluateConfig,
  environmentSchema,
  evaluateConfigSchema,
} from "./live-config.ts";
import { isServed, type TrainConfig, trainConfigSchema } from "./train-config.ts";

const { device, compute, tokenizer } = evaluateConfigSchema.shape;
const shared = { $schema: true, environment: true, tokenizer: true, device: true, compute: true } as const;

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
  evaluate: evaluateConfigSchema
    .omit({ ...shared, model: true, policy: true, policy_model: true })
    .extend({ environment: environmentSchema.optional().describe("That of the training when absent.") })
    .prefault({})
    .describe("Other keys of an evaluation."),
});

export type ExperimentConfig = z.infer<typeof experimentConfigSchema>;

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
  { environment, teacher, student, collect, train, evaluate, ...rest }: ExperimentConfig,
  inside: (name: string) => string,
): { collect: CollectConfig; before: EvaluateConfig; train: TrainConfig; after: EvaluateConfig } {
  const { $schema: _, ...common } = rest;
  const measured = (model: string): EvaluateConfig => ({
    ...common,
    ...evaluate,
    environment: evaluate.environment ?? environment,
    model,
  });
  return {
    collect: { ...common, ...collector(teacher, train.teacher_model), ...collect, environment },
    before: measured(student),
    train: {
      ...common,
      ...train,
      environment,
      library: inside(`${EXPERIMENT_PARTS.collect}/sources.jsonl`),
      teacher,
      student,
    },
    after: measured(inside(EXPERIMENT_PARTS.train)),
  };
}
