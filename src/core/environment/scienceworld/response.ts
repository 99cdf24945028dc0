/** ScienceWorld's response parser: the shared one, and a blank answer where a menu asks for it. */
import type { ParsedResponse } from "../environment.ts";
import { parseTaggedResponse } from "../tagged-response.ts";

/** True when the observation is an ambiguity prompt that offers a blank answer to cancel. */
export function asksForBlankCancellation(observation: string): boolean {
  return /Ambiguous request:[^\n]*\bblank to cancel\b/.test(observation);
}

/** Reads a response that answers `observation`; an empty action is well formed only where a menu asks for a blank. */
export function parseResponse(response: string, observation: string): ParsedResponse {
  return parseTaggedResponse(
    response,
    asksForBlankCancellation(observation) ? null : "an empty action where no menu asks for a blank answer",
  );
}
