/** A collection or an evaluation that the page plays in its own games, as the browser keeps it. */
import { z } from "zod";
import { ENVIRONMENT_NAMES, evaluateConfigSchema } from "../../../core/loop/live-config.ts";

const count = z.int().min(0);

const pickedPromptSchema = z.object({
  /** Of its file. */
  name: z.string(),
  /** As `readPromptTemplate` reads it. */
  template: z.unknown(),
});

/** A prompt template that was picked. */
export type PickedPrompt = z.infer<typeof pickedPromptSchema>;

const { temperature, top_p, top_k } = evaluateConfigSchema.shape;

const common = {
  /** The model that plays. */
  role: z.enum(["teacher", "student"]),
  environment: z.enum(ENVIRONMENT_NAMES),
  tasks: z.array(z.string()).min(1),
  at_once: z.int().min(1),
  max_decisions: z.int().min(1).optional(),
  max_tokens: z.int().min(1).optional(),
  temperature,
  top_p,
  top_k,
  prompt: pickedPromptSchema.optional(),
};

const liveRunPlanSchema = z.discriminatedUnion("kind", [
  z.object({
    kind: z.literal("collect"),
    ...common,
    /** K. */
    repetitions: z.int().min(1),
    /** Whether plans are executed beside them. */
    planner: z.boolean(),
  }),
  z.object({ kind: z.literal("evaluate"), ...common, seeds: z.array(count).min(1) }),
]);

/** What is played, with what. */
export type LiveRunPlan = z.infer<typeof liveRunPlanSchema>;

const outcomeSchema = z.object({
  task: z.string(),
  type: z.string().nullable(),
  /** The repetition. */
  seed: count,
  success: z.boolean(),
  score: z.number().nullable(),
  decisions: count,
  /** Why its environment could not go on; absent where it was played to its end. */
  technical: z.string().optional(),
  /** For a collected record: whether it came out the same when played again. */
  verified: z.boolean().optional(),
});

/** What counts of an ended episode. */
export type LiveOutcome = z.infer<typeof outcomeSchema>;

const LIVE_RUN_STATES = ["running", "cancelling", "cancelled", "failed", "lost", "done"] as const;
export type LiveRunState = (typeof LIVE_RUN_STATES)[number];

export const keptLiveRunSchema = z.object({
  id: z.string(),
  plan: liveRunPlanSchema,
  /** `digest` is of the weights and the tokenizer: only the same model goes on. */
  model: z.object({ name: z.string(), digest: z.string() }),
  /** Distinguishes its games from others of the same names; absent until they are open, and in earlier versions. */
  games: z.string().optional(),
  /** Every episode, in the order of the records. */
  ids: z.array(z.string()),
  state: z.enum(LIVE_RUN_STATES),
  /** Why it is in this state, where that needs saying. */
  message: z.string().nullable(),
  /** ISO 8601. */
  created: z.string(),
});
export type KeptLiveRun = z.infer<typeof keptLiveRunSchema>;

export const liveRunEventSchema = z.discriminatedUnion("type", [
  /** Every episode of the run, in the order of its records. */
  z.object({ type: z.literal("planned"), ids: z.array(z.string()) }),
  /** An episode begins from its start: its first end, if there was one, no longer counts. */
  z.object({ type: z.literal("begun"), episode: z.string() }),
  /** `unkept` is the record where the browser keeps none. */
  z.object({
    type: z.literal("ended"),
    episode: z.string(),
    outcome: outcomeSchema.nullable(),
    unkept: z.custom<object>((value) => typeof value === "object" && value !== null).nullable(),
  }),
  /** Episodes' worth of what those that run now have played: each counts by its share of the decisions it may take. */
  z.object({ type: z.literal("played"), share: z.number() }),
]);

/** What happens to a run as it is played. */
export type LiveRunEvent = z.infer<typeof liveRunEventSchema>;

/** A run as the page has it, where nothing of it need be kept yet. */
export const presentLiveRunSchema = keptLiveRunSchema.extend({
  /** By episode, of those that have ended; null where one gave no record. */
  outcomes: z.map(z.string(), outcomeSchema.nullable()),
  /** Episodes' worth of what those that run now have played. */
  share: z.number(),
  /** When its model began to play (`pageTime()`), and how many episodes had ended then; null while none plays. */
  since: z.object({ at: z.number(), ended: count }).nullable(),
  /** False where the browser keeps nothing of it: it ends with the page. */
  kept: z.boolean(),
});

export const keptOutcomeSchema = z.object({
  run: z.string(),
  episode: z.string(),
  /** Null where the episode gave no record. */
  outcome: outcomeSchema.nullable(),
});

export const keptRecordSchema = z.object({
  run: z.string(),
  episode: z.string(),
  record: z.looseObject({}).nullable(),
});
