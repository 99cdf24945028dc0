/** ScienceWorld's response parser: no control tag inside a block, and a blank answer where a menu asks for it. */
import { type ResponseRule, responseParser } from "../tagged-response.ts";

/** True when the observation is an ambiguity prompt that offers a blank answer to cancel. */
export function asksForBlankCancellation(observation: string): boolean {
  return observation.includes("Ambiguous request:") && observation.includes("blank to cancel");
}

const RULE: ResponseRule = {
  lowerCase: true,
  refusesNestedTags: true,
  acceptsBlank: asksForBlankCancellation,
};

/** Reads a response that answers `observation`; an empty action is well formed only where a menu asks for a blank. */
export const parseResponse = responseParser(RULE);
