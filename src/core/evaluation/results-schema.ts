/** The figures of an evaluation as files and events hold them, checked. */
import { z } from "zod";
import type { Spread } from "./metrics.ts";

const count = z.int().min(0);
const spread: z.ZodType<Spread> = z.object({ mean: z.number(), sd: z.number().nullable() });
const figuresShape = {
  tasks: count,
  sr: spread,
  score: spread.nullable(),
  rounds: spread,
  per_seed: z.array(
    z.object({ seed: count, sr: z.number(), score: z.number().nullable(), rounds: z.number() }),
  ),
};

/** The keys of `EvaluationResults`. */
export const evaluationResultsShape = {
  ...figuresShape,
  seeds: z.array(count),
  sr_interval: z.tuple([z.number(), z.number()]).readonly().nullable(),
  pass_at_k: z.number(),
  score_at_k: z.number().nullable(),
  per_type: z.record(z.string(), z.object(figuresShape)),
  technical: z.array(z.object({ task: z.string(), seed: count, reason: z.string() })),
};
