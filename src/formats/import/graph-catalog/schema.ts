/** The parts of a ScienceWorld or WebShop catalog that are read. */
import { z } from "zod";
import { foreignStateSchema, foreignStepSchema } from "../decision-fields.ts";

export const manifestSchema = z.looseObject({
  schema_version: z.string().nullish(),
  tasks: z.array(
    z.looseObject({
      gamefile: z.string(),
      instruction: z.string().nullish(),
      source_files: z.array(
        z.looseObject({
          rep: z.int(),
          path: z.string().nullish(),
          sha256: z.string().nullish(),
          source_won: z.boolean().nullish(),
          source_kind: z.string().nullish(),
          expected_missing: z.boolean().nullish(),
        }),
      ),
    }),
  ),
});

export const entrySchema = z.looseObject({
  gamefile: z.string(),
  status: z.string().nullish(),
  graph: z.looseObject({ path: z.string(), sha256: z.string().nullish() }).nullish(),
});

const summarySchema = z.looseObject({
  accepted_decisions: z.int().nullish(),
  decisions: z.int().nullish(),
});

export const trajectorySchema = z.looseObject({
  rep: z.int(),
  source_kind: z.string().nullish(),
  source_won: z.boolean().nullish(),
  source_sha256: z.string().nullish(),
  trusted_complete: z.boolean(),
  trusted_success: z.boolean().nullish(),
  won: z.boolean().nullish(),
  score: z.number().nullish(),
  final_score: z.number().nullish(),
  states: z.array(foreignStateSchema.extend({ observation: z.string().nullish() }).nullable()),
  steps: z.array(foreignStepSchema),
  source_attempt_summary: summarySchema.nullish(),
});

export const branchSchema = z.looseObject({
  rep: z.int(),
  decision_index: z.int(),
  action: z.string().nullable(),
  feedback: z.string().nullish(),
  format_error: z.unknown().optional(),
  kind: z.string().nullish(),
});

export const graphSchema = z.looseObject({
  schema_version: z.string(),
  gamefile: z.string(),
  instruction: z.string().nullish(),
  /** Only in ScienceWorld catalogs that this program wrote. */
  task_description: z.string().nullish(),
  trajectories: z.array(trajectorySchema),
  attempt_branches: z.array(branchSchema).nullish(),
});

export const attemptSchema = z.looseObject({
  step: z.int().positive(),
  type: z.string(),
  action: z.string().nullish(),
  raw_output: z.string().nullish(),
  reason: z.string().nullish(),
  feedback: z.string().nullish(),
});

/** A recorder's own file of one execution, or one run of a planner's document. */
export const originalSchema = z.looseObject({
  gamefile: z.string(),
  rep: z.int().nullish(),
  instruction: z.string().nullish(),
  source_kind: z.string().nullish(),
  won: z.boolean().nullish(),
  score: z.number().nullish(),
  final_score: z.number().nullish(),
  end_reason: z.string().nullish(),
  status: z.string().nullish(),
  sampling_protocol: z.looseObject({ model_id: z.string().nullish() }).nullish(),
  steps: z.array(foreignStepSchema),
  attempts: z.array(attemptSchema).nullish(),
});

/** A planner's document: runs under one roof. */
export const plannerDocumentSchema = z.looseObject({ runs: z.array(originalSchema) });

export type ManifestTask = z.infer<typeof manifestSchema>["tasks"][number];
export type ManifestRow = ManifestTask["source_files"][number];
export type Graph = z.infer<typeof graphSchema>;
export type Trajectory = z.infer<typeof trajectorySchema>;
export type Branch = z.infer<typeof branchSchema>;
export type Original = z.infer<typeof originalSchema>;
