import { environmentRules } from "../environment/environment.ts";
import { InputError } from "../errors.ts";
import { evidenceInsert } from "./insert.ts";
import { renderEvidence } from "./render.ts";
import type { Evidence, EvidenceInput } from "./types.ts";

export interface EvidenceBudget {
  /** Tokens of h_t, which count too; 0 where no prompt was recorded. */
  promptTokens: number;
  encode: (text: string) => number[];
  /** Most tokens of h_t with R_t; the environment's own when absent. */
  limit?: number;
}

export interface FittedEvidence {
  evidence: Evidence;
  /** R_t, encoded as it is inserted. */
  insertIds: number[];
}

/**
 * R_t within a token budget: plain text first; over budget, exactly repeated observations and feedback become
 * back-references. Nothing is ever cut: evidence that still does not fit is an `InputError` with the numbers.
 */
export function fitEvidence(
  input: EvidenceInput,
  {
    promptTokens,
    encode,
    limit = environmentRules(input.episode.environment).limits.evidenceTokens,
  }: EvidenceBudget,
): FittedEvidence {
  const tried: number[] = [];
  for (const backReferences of [false, true]) {
    const evidence = renderEvidence(input, { backReferences });
    const insertIds = encode(evidenceInsert(evidence.text));
    tried.push(promptTokens + insertIds.length);
    if (promptTokens + insertIds.length <= limit) return { evidence, insertIds };
  }
  throw new InputError(
    `evidence of decision ${input.decision} of episode ${input.episode.episode} does not fit: ${tried[0]} tokens, ` +
      `${tried[1]} with back-references, limit ${limit}; evidence is never cut`,
  );
}
