/** A stage and a method as JSON: keys of a training config, and a method's own file. */
import { z } from "zod";
import { CONTROLS } from "../retrieval/selection.ts";
import { selectionOfKeys } from "../retrieval/selection-keys.ts";
import type { Method, Stage } from "./method.ts";
import { configuredSignal, signalSchema } from "./signal-schema.ts";

const positive = z.number().positive();
const count = z.int().min(1);

export const controlSchema = z.enum(CONTROLS);

const share = z.number().min(0).max(1);

/** `LibrarySubset`. */
export const subsetSchema = z
  .strictObject({
    success_tasks: share
      .optional()
      .describe("Share of tasks that keep their sampled successes; the others lose all of theirs."),
    failures: share.optional().describe("Share of sampled records without a success that are kept."),
    seed: z.int().min(0).optional().describe("Of the draws; 0 when absent."),
  })
  .meta({ id: "subset" });

/** The options of the ablations beside `control`: one shape for a stage and for the whole schedule. */
export const selectionShape = {
  sources_per_task: z
    .int()
    .min(1)
    .optional()
    .describe(
      "Source budget K: sampled records with a repetition below it take part; as the method has it (16) when absent, " +
        "in stages of your own all.",
    ),
  augmentation: z
    .boolean()
    .optional()
    .describe(
      "Planner and oracle records take part; as the method has it when absent, in stages of your own true.",
    ),
  subset: subsetSchema
    .optional()
    .describe(
      'A part of the sampled records, drawn, such as {"success_tasks": 0.5}; all when absent (not in the paper).',
    ),
  terminal_failure_note: z
    .boolean()
    .optional()
    .describe(
      "Note on the final response of an episode that ended by itself with a negative score; false when absent.",
    ),
};

const rampSchema = z
  .union([
    z.number().min(0),
    z.strictObject({
      from: z.number().min(0),
      to: z.number().min(0),
      over: z.union([
        z.strictObject({ updates: count }),
        z.strictObject({ share: positive.max(1).describe("Of the stage's updates.") }),
      ]),
    }),
  ])
  .meta({ id: "ramp" });

const every = z
  .union([count, z.record(z.string(), count)])
  .describe("η: updates until the next depth; one number, or one for each environment by its name.");

const samplingSchema = z
  .discriminatedUnion("kind", [
    z.strictObject({
      kind: z.literal("depth"),
      first: count.default(1).describe("Decisions of the first updates."),
      every,
    }),
    z.strictObject({ kind: z.literal("prefix"), every }),
    z.strictObject({
      kind: z.literal("adaptive-depth"),
      probe: count.default(8).describe("Every so many batches, one is played to the horizon."),
      coverage: z
        .number()
        .gt(0)
        .max(1)
        .default(0.8)
        .describe("Quantile of the depth of successful episodes."),
      smoothing: z.number().gt(0).max(1).default(0.3).describe("Weight of the newest probe."),
      least: count.default(1).describe("Fewest decisions."),
    }),
  ])
  .describe(
    "Where episodes start and how long they get: cut at a depth that grows, behind a replayed prefix of a reference, or cut " +
      "at a depth that follows probes. Whole episodes from the start when absent.",
  );

const weightsSchema = z
  .discriminatedUnion("kind", [
    z.strictObject({ kind: z.literal("episode") }),
    z.strictObject({
      kind: z.literal("turn-balanced"),
      balance: rampSchema
        .default({ from: 0, to: 1, over: { share: 1 } })
        .describe("0 is the mean over the batch's tokens, 1 gives each turn the same."),
    }),
    z.strictObject({
      kind: z.literal("step-divergence"),
      epsilon: positive.default(1e-6),
      delta: z.number().min(0).default(0.2).describe("No turn weighs more than 1 + delta."),
    }),
    z.strictObject({ kind: z.literal("turn-utility") }),
  ])
  .describe("How tokens weigh; 1/(N·L_e) when absent (`episode`).");

const bridgeSchema = z
  .strictObject({ turns: count.default(3).describe("Student turns after each branch.") })
  .describe(
    "A response of the teacher's at the student's worst turn joins the batch where it helps (FutureBridge).",
  );

const rewardSchema = z
  .strictObject({
    of: z.enum(["success", "score"]).default("success").describe("The outcome of an episode, or its score."),
    group: z.int().min(2).default(8).describe("Rollouts of each task; a batch has 1/`group` as many tasks."),
    teacher: rampSchema.default(1).describe("Factor of the teacher's signal; 0 asks no teacher."),
    factor: rampSchema.default(1).describe("Factor of the reward."),
  })
  .describe("The task's reward, relative to the rollouts of the same task (GRPO).");

export const stageSchema = z
  .strictObject({
    name: z.string().min(1),
    epochs: z.int().min(0),
    evidence: z.discriminatedUnion("kind", [
      z.strictObject({ kind: z.literal("none") }),
      z.strictObject({
        kind: z.literal("graph-conditioned"),
        control: controlSchema.default("graph"),
        ...selectionShape,
      }),
    ]),
    sampling: samplingSchema.optional(),
    weights: weightsSchema.optional(),
    bridge: bridgeSchema.optional(),
    reward: rewardSchema.optional(),
    signal: signalSchema.optional(),
  })
  .meta({ id: "stage" });

/** A method of one's own: the content of its JSON file. */
export const methodSchema = z.strictObject({
  $schema: z.string().optional(),
  name: z.string().min(1).describe("Shown to people."),
  description: z.string().optional(),
  source: z.string().optional().describe("Where it is from."),
  uncertain: z.array(z.string()).optional().describe("What no source says, and what was chosen."),
  original: z.string().optional().describe("Training settings of the original, for people."),
  teacher: z
    .literal("student")
    .optional()
    .describe("The frozen teacher is the student as the run began; the run names one when absent."),
  stages: z.array(stageSchema).min(1),
});

export type WrittenMethod = z.infer<typeof methodSchema>;

/** A stage of JSON under the names of `Stage`. Absent keys stay absent: its digest is that of earlier versions. */
export function writtenStage({ evidence, weights, signal, ...stage }: z.infer<typeof stageSchema>): Stage {
  const own = {
    ...stage,
    ...(weights === undefined || weights.kind === "episode" ? {} : { weights }),
    ...configuredSignal(signal),
  };
  if (evidence.kind === "none") return { ...own, evidence };
  const { kind, control } = evidence;
  return { ...own, evidence: { kind, ...selectionOfKeys(evidence), control } };
}

/** A method of JSON under the names of `Method`. */
export function writtenMethod({
  $schema: _,
  name,
  description = "",
  stages,
  ...rest
}: WrittenMethod): Method {
  return { id: name, description, stages: stages.map(writtenStage), ...rest };
}
