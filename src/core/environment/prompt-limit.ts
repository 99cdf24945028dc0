/** The student's prompt h_t within its limit (Table "Environment-specific interaction settings"). */
import { InputError } from "../errors.ts";
import { environmentRules } from "./environment.ts";

/** A prompt has more tokens than its environment allows, and none is cut. */
export class PromptLimitError extends InputError {}

/** h_t as the student reads it, and the teacher's vanilla pass too. */
export interface LimitedPrompt {
  ids: number[];
  /** Tokens that were left out at its beginning. */
  cut: number;
}

/**
 * Holds a prompt to its environment's `promptTokens`: ScienceWorld keeps the last tokens, as the released
 * implementation does; the others refuse.
 *
 * @param where of the prompt, for messages
 * @throws PromptLimitError with the numbers where the environment cuts nothing
 */
export function limitPrompt(
  ids: number[],
  environment: string,
  where: { file?: string; key?: string } = {},
): LimitedPrompt {
  const { limits, longPrompt } = environmentRules(environment);
  const cut = Math.max(0, ids.length - limits.promptTokens);
  if (cut === 0) return { ids, cut };
  if (longPrompt === "keep-last") return { ids: ids.slice(cut), cut };
  throw new PromptLimitError(
    `${ids.length} tokens; a student prompt of ${environment} has at most ${limits.promptTokens}, and none is cut`,
    where,
  );
}
