/** The parts of a student's run that are read. */
import { z } from "zod";
import { foreignStateSchema } from "../decision-fields.ts";

const ids = z.array(z.int().nonnegative());

export const studentStepSchema = z.looseObject({
  current_obs: z.string(),
  user_text: z.string().nullish(),
  prompt_ids: ids.nullish(),
  response_ids: ids.nullish(),
  rollout_logprobs: z.array(z.number()).nullish(),
  raw_output: z.string().nullish(),
  action: z.string().nullable(),
  semantic_action: z.string().nullish(),
  feedback: z.string().nullable(),
  format_error: z.unknown().optional(),
  env_rejection: z.unknown().optional(),
  rejection: z.unknown().optional(),
  rolled_back_attempt: z.boolean().nullish(),
  recording_gap_before: z.boolean().nullish(),
  continuous_from_previous: z.boolean().nullish(),
  score: z.number().nullish(),
  physical_state_before: foreignStateSchema.nullish(),
  physical_state_after: foreignStateSchema.nullish(),
});

export const studentEpisodeSchema = z.looseObject({
  gamefile: z.string(),
  is_evaluation: z.boolean().nullish(),
  won: z.boolean().nullish(),
  initial_obs: z.string().nullish(),
  task_description: z.string().nullish(),
  final_score: z.number().nullish(),
  final_outcome: z
    .looseObject({
      won: z.boolean().nullish(),
      score: z.number().nullish(),
      done: z.boolean().nullish(),
      decision_limit_reached: z.boolean().nullish(),
    })
    .nullish(),
  technical_incomplete: z.boolean().nullish(),
  steps: z.array(studentStepSchema),
});

export const teacherScoresSchema = z.looseObject({
  turns: z.array(
    z.looseObject({
      response_ids: ids.nullish(),
      teacher_response_logprobs: z.array(z.number()),
      prompt_length: z.int().nonnegative().nullish(),
    }),
  ),
});

export type StudentEpisode = z.infer<typeof studentEpisodeSchema>;
export type TeacherScores = z.infer<typeof teacherScoresSchema>;
