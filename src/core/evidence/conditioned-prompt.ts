/** What the teacher reads for a graph-conditioned decision: h_t with R_t, within the limits of its environment. */
import { environmentRules } from "../environment/environment.ts";
import { InputError } from "../errors.ts";
import { type FittedEvidence, fitEvidence } from "./budget.ts";
import { evidenceInsert, insertEvidence } from "./insert.ts";
import type { EvidenceInput } from "./types.ts";

export interface ConditionedPrompt {
  evidence: FittedEvidence;
  /** h_t with R_t before its last end of turn. */
  promptIds: number[];
  /** Tokens of R_t as it is inserted. */
  evidenceTokens: number;
}

/**
 * R_t fitted to the limit and inserted into h_t.
 *
 * @param promptIds h_t
 * @param responseTokens tokens of y_t, which the teacher reads after it
 * @param limit most tokens of h_t with R_t; the environment's own when absent
 * @throws InputError when the evidence does not fit even with back-references, or not together with the response
 */
export function conditionedPrompt(
  input: EvidenceInput,
  {
    promptIds,
    responseTokens,
    encode,
    endOfTurnId,
    limit = environmentRules(input.episode.environment).limits.evidenceTokens,
  }: {
    promptIds: readonly number[];
    responseTokens: number;
    encode: (text: string) => number[];
    endOfTurnId: number;
    limit?: number;
  },
): ConditionedPrompt {
  let ids: number[] = [];
  const evidence = fitEvidence({
    ...input,
    limit,
    // It counts the text that it returns last.
    countTokens: (text) => {
      ids = encode(evidenceInsert(text));
      return promptIds.length + ids.length;
    },
  });
  checkTeacherContext(input, evidence.tokens, responseTokens, limit);
  return { evidence, promptIds: insertEvidence(promptIds, ids, endOfTurnId), evidenceTokens: ids.length };
}

/**
 * Refuses a teacher context of more than `teacherContextTokens`. Where another limit of prompt and evidence was asked
 * for, the room for the response stays what the environment gives it.
 *
 * @param promptTokens h_t with R_t
 */
export function checkTeacherContext(
  { episode: { episode, environment }, decision }: Pick<EvidenceInput, "episode" | "decision">,
  promptTokens: number,
  responseTokens: number,
  limit = environmentRules(environment).limits.evidenceTokens,
): void {
  const { teacherContextTokens, evidenceTokens } = environmentRules(environment).limits;
  const most = limit + teacherContextTokens - evidenceTokens;
  // One token follows the response, as in the released implementation.
  const needed = promptTokens + responseTokens + 1;
  if (needed <= most) return;
  throw new InputError(
    `the teacher's context of decision ${decision} of episode ${episode} does not fit: ${promptTokens} tokens of prompt ` +
      `and evidence, ${responseTokens} of the response and 1 after it, limit ${most}; nothing is cut`,
  );
}
