/**
 * What the teacher reads at a decision: h_t with R_t at the end of its user message, within the limits of its
 * environment (Render, Eq. (7) and Algorithm 1, lines 6–14). The loop, the page and the command line all ask here, so
 * that their teachers read the same ids.
 */
import { environmentRules } from "../environment/environment.ts";
import type { LimitedPrompt } from "../environment/prompt-limit.ts";
import { InputError } from "../errors.ts";
import {
  type EvidenceInput,
  type FittedEvidence,
  fitEvidence,
  insertEvidence,
  NO_EVIDENCE,
} from "../evidence/index.ts";
import type { Episode } from "../record/schema.ts";
import type { TextCodec } from "./codec.ts";

/** h_t and y_t of a recorded decision. Throws `InputError` naming the place where it carries no prompt or no response. */
export function recordedIds(
  { episode, environment, decisions }: Episode,
  decision: number,
  codec: Pick<TextCodec, "prompt" | "responseIds">,
  file?: string,
): { prompt: LimitedPrompt; responseIds: number[] } {
  const place = { file, episode, decision };
  const recorded = decisions[decision]!;
  const prompt = codec.prompt(recorded, environment, place);
  return { prompt, responseIds: codec.responseIds(recorded, environment, place) };
}

export interface TeacherPrompt extends FittedEvidence {
  /** h_t with R_t before its last end of turn. */
  promptIds: number[];
}

/**
 * R_t fitted to the limit and inserted into h_t. Where another limit than the environment's is asked for, the room for
 * the response stays what the environment gives it.
 *
 * @param input null where nothing is left of the evidence: the teacher then reads h_t alone
 * @param promptIds h_t
 * @param responseTokens tokens of y_t, which the teacher reads after it
 * @param limit most tokens of h_t with R_t; the environment's own when absent
 * @throws InputError when the evidence does not fit even with back-references, or not together with the response, and
 * when the prompt has no end of turn
 */
export function teacherPrompt(
  input: EvidenceInput | null,
  promptIds: readonly number[],
  responseTokens: number,
  { encode, endOfTurnId }: Pick<TextCodec, "encode" | "endOfTurnId">,
  limit?: number,
): TeacherPrompt {
  if (input === null) return { evidence: NO_EVIDENCE, insertIds: [], promptIds: [...promptIds] };
  const { episode, environment } = input.episode;
  const { limits } = environmentRules(environment);
  const fitted = fitEvidence(input, { promptTokens: promptIds.length, encode, limit });
  const promptTokens = promptIds.length + fitted.insertIds.length;
  const most = (limit ?? limits.evidenceTokens) + limits.teacherContextTokens - limits.evidenceTokens;
  // One token follows the response, as in the released implementation.
  if (promptTokens + responseTokens + 1 > most) {
    throw new InputError(
      `the teacher's context of decision ${input.decision} of episode ${episode} does not fit: ${promptTokens} tokens of ` +
        `prompt and evidence, ${responseTokens} of the response and 1 after it, limit ${most}; nothing is cut`,
    );
  }
  return { ...fitted, promptIds: insertEvidence(promptIds, fitted.insertIds, endOfTurnId) };
}
