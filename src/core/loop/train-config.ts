/** The JSON that describes a training job (docs/training.md). The schema in docs/ is made from this one. */
import { z } from "zod";
import { InputError } from "../errors.ts";
import {
  controlSchema,
  METHOD_IDS,
  methodSchema,
  namedSignalSchema,
  selectionShape,
  stageSchema,
} from "../method/index.ts";
import { PAPER_SETTINGS, type StepSettings } from "../ports.ts";
import type { Episode } from "../record/schema.ts";
import { environmentSchema, evaluationShape } from "./live-config.ts";

const path = z.string().min(1);
const files = z.union([path, z.array(path).min(1)]);
const positive = z.number().positive();
const unit = z.number().min(0).max(1);

/** The keys of `settings`, none of them with a default. */
export const settingsFields = {
  learning_rate: z.number().min(0),
  beta1: unit,
  beta2: unit,
  adam_epsilon: positive,
  weight_decay: z.number().min(0),
  max_grad_norm: positive,
  clip: positive.max(1),
};

const settingsSchema = z.strictObject({
  learning_rate: settingsFields.learning_rate.default(PAPER_SETTINGS.learningRate),
  beta1: unit.default(PAPER_SETTINGS.beta1),
  beta2: unit.default(PAPER_SETTINGS.beta2),
  adam_epsilon: positive.default(PAPER_SETTINGS.adamEpsilon),
  weight_decay: settingsFields.weight_decay.default(PAPER_SETTINGS.weightDecay),
  max_grad_norm: positive.default(PAPER_SETTINGS.maxGradNorm),
  clip: settingsFields.clip.default(PAPER_SETTINGS.clip).describe("Clipping radius ε of Eq. (9)."),
});

export const trainConfigSchema = z.strictObject({
  $schema: z.string().optional(),
  library: files
    .optional()
    .describe(
      "Sources (JSON Lines, gzip or not): a file, or a list of files. Needed by graph-conditioned stages.",
    ),
  episodes: files
    .optional()
    .describe(
      "Recorded student episodes (JSON Lines, gzip or not): a file, or a list of files. Needed without `environment`.",
    ),
  environment: environmentSchema
    .optional()
    .describe("In place of `episodes`: each batch is played in a live environment by the current student."),
  evaluate: z
    .strictObject({
      every: z
        .int()
        .min(1)
        .describe(
          "Optimizer steps between evaluations; there is one before the first step and after the last, too.",
        ),
      environment: environmentSchema
        .optional()
        .describe("Where the student is measured; the run's when absent."),
      tasks: environmentSchema.shape.tasks.describe("In place of the environment's tasks."),
      ...evaluationShape,
    })
    .optional()
    .describe("Measure the student on fixed tasks while it is trained. Its numbers stay the same."),
  watch: z
    .strictObject({
      every: z
        .int()
        .min(1)
        .default(5)
        .describe(
          "Optimizer steps between looks; there is one before the first step and after the last, too.",
        ),
      episodes: files.optional().describe("Where they are recorded; the run's `episodes` when absent."),
      decisions: z
        .array(z.strictObject({ episode: z.string().min(1), decision: z.int().min(0) }))
        .min(1)
        .describe("Decisions of recorded episodes, counted from 0."),
    })
    .optional()
    .describe(
      "Follow how likely the student finds the recorded actions of fixed decisions while it is trained. They are only read: " +
        "its numbers stay the same.",
    ),
  teacher: path
    .optional()
    .describe(
      "Model folder of the frozen teacher, hub:OWNER/NAME[@REVISION], or the address of a server that runs it (vLLM or " +
        "SGLang); student: the student as the run begins. Not needed by methods that ask none or say who it is.",
    ),
  teacher_model: path
    .optional()
    .describe("With a teacher on a server: its name there, where the server has several models."),
  calibrate_with: path
    .optional()
    .describe(
      "With a teacher on a server: its model folder here, or hub:OWNER/NAME[@REVISION]. Three decisions are scored by both " +
        "before the first step; log-probabilities that lie too far apart are refused.",
    ),
  teacher_dtype: z
    .enum(["auto", "f32", "f16", "bf16", "int8", "int4"])
    .default("f32")
    .describe(
      "How the teacher's weights are kept on the device; auto: as in its folder. With a teacher on a server, those of " +
        "`calibrate_with`.",
    ),
  student: path.describe(
    "Model folder of the student as it starts, or hub:OWNER/NAME[@REVISION]; it is not changed.",
  ),
  tinker: z
    .strictObject({
      url: path.describe("Address of the server, http://HOST:PORT."),
      base_model: path
        .optional()
        .describe("The student as the server names it; needed where it serves several models."),
      lora_rank: z
        .int()
        .min(0)
        .default(32)
        .describe("Rank of the adapter that is trained; 0 trains all weights, where the server can."),
      optimizer: z
        .enum(["config", "server"])
        .default("config")
        .describe(
          "server: it clips gradients and sets Adam's beta, epsilon and weight decay by itself (SkyRL's FSDP and Megatron), " +
            "and only `learning_rate` and `clip` of `settings` count.",
        ),
      merge: z
        .boolean()
        .default(false)
        .describe("The trained student is the whole model, the adapter added to its weights, in f32."),
    })
    .optional()
    .describe(
      "A server with Tinker's API (SkyRL) trains the student; `student` is the folder of the same model, with its tokenizer.",
    ),
  parent: path
    .optional()
    .describe(
      "Checkpoint of another run, or that run's folder for its newest one: its weights and optimizer state are where " +
        "this run begins. `student` is then the model that the other run began from.",
    ),
  engines: z
    .record(
      z.string().regex(/^[\w-]+$/, { error: "expected a name of letters, digits, _ and -" }),
      z.strictObject({
        command: z.string().min(1).describe("Command line of a shell that serves until it is ended."),
        ready: z.url({ protocol: /^https?$/ }).describe("URL that answers with 200 once it serves."),
        minutes: z.number().positive().default(30).describe("How long it may take to be ready."),
      }),
    )
    .optional()
    .describe(
      "Servers that the run starts before it reads from them, and ends with itself. One that ends by itself ends the run.",
    ),
  tokenizer: path
    .optional()
    .describe(
      "Folder with tokenizer.json and tokenizer_config.json, for both models; the student's folder when absent.",
    ),
  method: z
    .union([
      z.enum(METHOD_IDS),
      z.string().regex(/\.json$/, {
        error: `expected ${METHOD_IDS.join(", ")}, or the path of a JSON file with a method`,
      }),
      methodSchema,
    ])
    .default("gc-opd")
    .describe(
      "A method by name (docs/methods.md), the path of a JSON file with one, or one itself. gc-opd and the controls take " +
        "the K = 16 sampled records of a task; gc-opd+ga planner and oracle records too.",
    ),
  stages: z.array(stageSchema).min(1).optional().describe("A schedule of your own in place of the method's."),
  epochs: z
    .array(z.int().min(0))
    .optional()
    .describe("Epochs of each stage, in their order, in place of the method's; 0 skips a stage."),
  first_epochs: z
    .array(z.int().min(0))
    .optional()
    .describe(
      "Number of each stage's first epoch, from 0, with `parent`: the epochs before it are those that the parent took.",
    ),
  control: controlSchema
    .optional()
    .describe("What graph-conditioned stages retain, in place of the method's."),
  ...selectionShape,
  signal: namedSignalSchema
    .optional()
    .describe(
      "What all stages compare of teacher and student at each response token, in place of the method's: a kind by its name, or as in a stage.",
    ),
  batch_size: z
    .int()
    .min(1)
    .default(32)
    .describe("Tasks or episodes per step; the last batch may be smaller."),
  settings: settingsSchema.prefault({}),
  sample: z
    .strictObject({
      temperature: z.number().min(0).default(1),
      max_tokens: z.int().min(1).optional().describe("The environment's limit when absent."),
      max_decisions: z.int().min(1).optional().describe("The environment's limit when absent."),
    })
    .optional()
    .describe("Play each task again with the current student, over the recorded episode as the environment."),
  end_of_turn: z
    .boolean()
    .optional()
    .describe(
      "Responses recorded as text end with the end-of-turn token, as those of a rollout do; true when absent, and false " +
        "gives the numbers of earlier versions. A run of an earlier version goes on without it.",
    ),
  evidence_tokens: z
    .int()
    .min(1)
    .optional()
    .describe("Longest teacher prompt with its evidence; the environment's limit when absent."),
  seed: z.int().min(0).default(42),
  device: z.enum(["auto", "webgpu", "cpu"]).default("auto"),
  compute: z
    .enum(["f32", "f16"])
    .default("f32")
    .describe("Operands of matrix products, of teacher and student; sums, gradients and weights stay f32."),
  cards: z
    .union([z.int().min(1), z.array(z.int().min(0)).min(1)])
    .optional()
    .describe("Several cards of the host: how many, or their numbers. One device when absent."),
  memory_limit_gib: positive
    .optional()
    .describe(
      "GiB that the run may take of each device: passes are made shorter, and what still needs more is refused.",
    ),
  episode_ids: z
    .array(z.string().min(1))
    .min(1)
    .optional()
    .describe("Train on the episodes of these ids only, in the files' order; all when absent."),
  limit: z.int().min(1).optional().describe("Train on the first so many episodes only."),
  checkpoint_every: z
    .int()
    .min(1)
    .optional()
    .describe(
      "Steps between checkpoints. Absent: each step of a student of up to 64 million parameters; of a larger one as often as leaves nine tenths of the time to the steps.",
    ),
  keep_checkpoints: z.int().min(1).default(2),
  keep_every: z
    .int()
    .min(1)
    .optional()
    .describe("Checkpoints after every so many steps are kept for good, beside the newest."),
  budget: z
    .strictObject({
      hours: positive.optional().describe("Wall-clock hours of all attempts together."),
      gpu_hours: positive.optional().describe("The same hours times `gpus`."),
      price: positive.optional().describe("GPU-hours times `price_per_gpu_hour`."),
      gpus: z
        .int()
        .min(1)
        .optional()
        .describe("GPUs that the run holds; those of the target when absent in a launch."),
      price_per_gpu_hour: positive.optional().describe("The target's when absent in a launch."),
    })
    .optional()
    .describe(
      "Ends the run after a step, with a checkpoint, when the next one would take more hours, GPU-hours or money than this.",
    ),
});

export type TrainConfig = z.infer<typeof trainConfigSchema>;

/** The files that `library` or `episodes` names, in their order. */
export function namedFiles(value: TrainConfig["library"]): readonly string[] {
  return value === undefined ? [] : typeof value === "string" ? [value] : value;
}

/** Whether a teacher is named by the address of a server that runs it. */
export const isServed = (teacher: string | undefined): boolean => /^https?:\/\//.test(teacher ?? "");

/** Whether the student plays what it trains on, so that each response has the ids that were sampled. */
export function isFreshRun({ sample, environment }: { sample?: unknown; environment?: unknown }): boolean {
  return sample !== undefined || environment !== undefined;
}

/** What the responses of a run are to the student that each step updates. */
export const policyWords = (fresh: boolean): string => (fresh ? "on policy" : "off-policy after step 1");

/** The same of a run that has begun; null where no step follows its first one. */
export function startedPolicy(
  unit: "episode" | "task",
  { steps, parent }: { steps: number; parent?: { step: number } | null | undefined },
): string | null {
  const fresh = unit === "task";
  return fresh || steps - (parent?.step ?? 0) > 1 ? policyWords(fresh) : null;
}

/**
 * The episodes that a config trains on, of all that its file has.
 *
 * @throws InputError naming the ids that the file does not have
 */
export async function* chosenEpisodes(
  { episode_ids: ids, limit }: Pick<TrainConfig, "episode_ids" | "limit">,
  all: Iterable<Episode> | AsyncIterable<Episode>,
): AsyncGenerator<Episode> {
  const wanted = ids === undefined ? null : new Set(ids);
  let taken = 0;
  for await (const episode of all) {
    if (wanted !== null && !wanted.delete(episode.episode)) continue;
    yield episode;
    taken += 1;
    if (taken === limit || wanted?.size === 0) return;
  }
  if (wanted !== null && wanted.size > 0) {
    const missing = [...wanted].map((id) => JSON.stringify(id)).join(", ");
    throw new InputError(`among the episodes is no ${missing}`, { key: "episode_ids" });
  }
}

/** The step settings of a config, under the names of the ports. */
export function configuredSettings({ settings }: TrainConfig): StepSettings {
  return {
    learningRate: settings.learning_rate,
    beta1: settings.beta1,
    beta2: settings.beta2,
    adamEpsilon: settings.adam_epsilon,
    weightDecay: settings.weight_decay,
    maxGradNorm: settings.max_grad_norm,
    clip: settings.clip,
  };
}
