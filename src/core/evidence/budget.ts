import { InputError } from "../errors.ts";
import { renderEvidence } from "./render.ts";
import type { Evidence, EvidenceInput } from "./types.ts";

export interface FitEvidence extends EvidenceInput {
  /** Tokens that count against the limit when this is the evidence: of the text alone or of the whole prompt. */
  countTokens: (text: string) => number;
  /** Most tokens that may count. */
  limit: number;
}

export interface FittedEvidence extends Evidence {
  /** What `countTokens` gave for the text. */
  tokens: number;
}

/**
 * R_t within a token budget: plain text first; over budget, exactly repeated observations and feedback become
 * back-references. Nothing is ever cut: evidence that still does not fit is an `InputError` with the numbers.
 */
export function fitEvidence({ countTokens, limit, ...input }: FitEvidence): FittedEvidence {
  const plain = renderEvidence(input);
  const plainTokens = countTokens(plain.text);
  if (plainTokens <= limit) return { ...plain, tokens: plainTokens };
  const short = renderEvidence(input, { backReferences: true });
  const tokens = countTokens(short.text);
  if (tokens <= limit) return { ...short, tokens };
  throw new InputError(
    `evidence of decision ${input.decision} of episode ${input.episode.episode} does not fit: ${plainTokens} tokens, ` +
      `${tokens} with back-references, limit ${limit}; evidence is never cut`,
  );
}
