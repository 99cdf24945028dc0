import { environmentRules } from "../environment/environment.ts";
import { InputError } from "../errors.ts";
import type { Episode } from "../record/schema.ts";
import type { EvaluatedEpisode } from "./metrics.ts";

/**
 * What counts of an episode's record.
 *
 * @throws InputError for a record without the number of its repetition, at `where`
 */
export function evaluatedEpisode(
  record: Episode,
  where: { file?: string; line?: number } = {},
): EvaluatedEpisode {
  const { environment, task, repetition, outcome, decisions } = record;
  if (typeof repetition !== "number") {
    throw new InputError("missing; expected the number that an evaluation writes", {
      ...where,
      key: "repetition",
    });
  }
  const rules = environmentRules(environment);
  return {
    task,
    type: rules.taskType(task),
    seed: repetition,
    success: outcome.success,
    score: rules.evaluationScore(record),
    decisions: decisions.length,
    ...(outcome.ended === "technical" ? { technical: String(outcome.technical_reason) } : {}),
  };
}
