/**
 * Records of library format 1: sources, episodes, retrieval and scoring records, as zod schemas and the types that
 * follow from them. Unknown keys are kept (`looseObject`): what a newer tool wrote is passed through, never lost.
 */
import { z } from "zod";

/** How far above 0 a log-probability may come to lie by the rounding of whoever computed it. */
const ROUNDING = 1e-3;

/** log p of a token. A probability in its place, which would train without a word, is refused. */
const logprobSchema = z.number().refine((value) => value <= ROUNDING, {
  error: ({ input }) => `expected a log-probability, which is at most 0, received ${JSON.stringify(input)}`,
});

/** Locator z of a visit: key, and the parser's control state. Absent (null) means an unreliable capture, ⊥. */
export const stateSchema = z.looseObject({
  key: z.string(),
  mode: z.string(),
  options: z.record(z.string(), z.string()),
});

/** A noncommitted collection retry: labelled metadata, never counted as a decision. */
export const attemptSchema = z.looseObject({
  action: z.string().nullable(),
  reason: z.enum(["format", "rejected"]),
  feedback: z.string(),
});

export const statusSchema = z.enum(["executed", "binding", "rejected", "malformed", "rolled_back"]);

const decisionShape = {
  observation: z.string(),
  state: stateSchema.nullable(),
  action: z.string().nullable(),
  binding: z.string().nullable(),
  status: statusSchema,
  feedback: z.string(),
  score: z.number().nullable(),
  gap_before: z.boolean(),
};

export const sourceDecisionSchema = z.looseObject({
  ...decisionShape,
  attempts: z.array(attemptSchema),
  /** False where the recorder rules the decision out as the entry of a successful suffix; absent is true. */
  entry_allowed: z.boolean().optional(),
});

export const episodeDecisionSchema = z.looseObject({
  ...decisionShape,
  prompt: z.string().optional(),
  prompt_ids: z.array(z.int().nonnegative()).optional(),
  response: z.string().optional(),
  response_ids: z.array(z.int().nonnegative()).optional(),
  rollout_logprobs: z.array(logprobSchema).optional(),
});

export const outcomeSchema = z.looseObject({
  complete: z.boolean(),
  success: z.boolean(),
  score: z.number().nullable(),
  ended: z.enum(["environment", "horizon", "technical"]),
  verified: z.boolean(),
  reported_success: z.boolean().optional(),
});

const executionShape = {
  environment: z.string(),
  task: z.string(),
  task_description: z.string(),
  initial_observation: z.string(),
  final_state: stateSchema.nullable(),
  outcome: outcomeSchema,
};

/** One recorded execution r of one task (Section 3.2). T decisions make T+1 visits: 0 … T-1 and the terminal one. */
export const sourceSchema = z.looseObject({
  format: z.literal("gcopd.source.v1"),
  ...executionShape,
  source: z.string(),
  repetition: z.int(),
  origin: z.looseObject({ kind: z.enum(["teacher", "planner", "oracle", "human", "other"]) }),
  decisions: z.array(sourceDecisionSchema),
});

/** One student rollout τ. Every decision counts, malformed and rejected ones too. */
export const episodeSchema = z.looseObject({
  format: z.literal("gcopd.episode.v1"),
  ...executionShape,
  episode: z.string(),
  decisions: z.array(episodeDecisionSchema),
});

export const relationSchema = z.enum(["current", "historical", "unaligned", "unverified"]);

/** A retained record. `position` and `student_position` are null for `unaligned` and `unverified`. */
export const referenceSchema = z.looseObject({
  source: z.string(),
  position: z.int().nullable(),
  student_position: z.int().nullable(),
  relation: relationSchema,
  /** Under the minimum-prefix control: how many first actions of the record are the student's. */
  shared_prefix: z.int().nonnegative().optional(),
});

export const candidateSchema = z.looseObject({ source: z.string(), position: z.int(), cost: z.int() });

export const retrievalSchema = z.looseObject({
  format: z.literal("gcopd.retrieval.v1"),
  environment: z.string(),
  task: z.string(),
  episode: z.string(),
  decision: z.int(),
  case: z.enum(["matched_success", "matched_no_success", "unmatched_success", "unmatched_failure"]),
  matched_visits: z.int(),
  candidates: z.array(candidateSchema),
  winner: z
    .union([
      z.looseObject({ kind: z.literal("source"), source: z.string(), position: z.int(), cost: z.int() }),
      z.looseObject({ kind: z.literal("student"), cost: z.int() }),
    ])
    .nullable(),
  success: referenceSchema.nullable(),
  failure: referenceSchema.nullable(),
  /** True where the evidence carries the terminal-failure note; absent elsewhere. */
  terminal_failure_note: z.boolean().optional(),
});

export const scoreInputSchema = z.looseObject({
  id: z.string(),
  prompt_ids: z.array(z.int().nonnegative()).min(1),
  response_ids: z.array(z.int().nonnegative()),
});

export const scoreOutputSchema = z.looseObject({
  id: z.string(),
  logprobs: z.array(logprobSchema),
  entropy: z.array(z.number()).optional(),
  top_ids: z.array(z.array(z.int().nonnegative())).optional(),
  top_logprobs: z.array(z.array(z.number())).optional(),
});

/** One line of `gcopd step`'s batch file. */
export const stepInputSchema = z.looseObject({
  episode: z.string(),
  prompt_ids: z.array(z.int().nonnegative()).min(1),
  response_ids: z.array(z.int().nonnegative()),
  teacher_logprobs: z.array(logprobSchema),
  rollout_logprobs: z.array(logprobSchema),
});

/**
 * The noncommitted tries after the last committed decision, which some recorders keep under `attempts_after_last` of a
 * source. The format does not define that key: anything but an array of attempts is passed through and means nothing.
 */
export function attemptsAfterLast(source: Source): readonly Attempt[] {
  if (source.attempts_after_last === undefined) return [];
  return z.array(attemptSchema).safeParse(source.attempts_after_last).data ?? [];
}

/** True for a decision whose h_t was recorded, as text or as ids. */
export function hasPrompt({ prompt, prompt_ids }: Pick<EpisodeDecision, "prompt" | "prompt_ids">): boolean {
  return prompt !== undefined || prompt_ids !== undefined;
}

/** The actions that are optimal at one decision of a student episode: known where a world can be solved. */
export const optimalSchema = z.looseObject({
  task: z.string(),
  episode: z.string(),
  decision: z.int().nonnegative(),
  optimal: z.array(z.string().min(1)).min(1),
});

export type State = z.infer<typeof stateSchema>;
export type Attempt = z.infer<typeof attemptSchema>;
export type Status = z.infer<typeof statusSchema>;
export type SourceDecision = z.infer<typeof sourceDecisionSchema>;
export type EpisodeDecision = z.infer<typeof episodeDecisionSchema>;
export type Outcome = z.infer<typeof outcomeSchema>;
export type Source = z.infer<typeof sourceSchema>;
export type Episode = z.infer<typeof episodeSchema>;
export type Relation = z.infer<typeof relationSchema>;
export type Reference = z.infer<typeof referenceSchema>;
export type Candidate = z.infer<typeof candidateSchema>;
export type RetrievalRecord = z.infer<typeof retrievalSchema>;
export type ScoreInput = z.infer<typeof scoreInputSchema>;
export type ScoreOutput = z.infer<typeof scoreOutputSchema>;
export type StepInput = z.infer<typeof stepInputSchema>;
export type OptimalActions = z.infer<typeof optimalSchema>;
