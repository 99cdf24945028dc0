/**
 * The rules of an environment that has none of its own. Its records bring their state keys, and everything else is as
 * in ScienceWorld: it admits the most while it asks the most of a recording (a suffix must be continuous), so that a
 * record is never ranked on trust alone and raw records are always labelled unverified.
 */

import { playProtocols } from "../protocol.ts";
import type { EnvironmentRules } from "../rules.ts";
import { SCIENCEWORLD } from "../scienceworld/rules.ts";
import { responseParser } from "../tagged-response.ts";
import { CUSTOM_PROMPT } from "./prompt.ts";

/** The strictest of the released rules, with actions as written: their case may matter, and no menu takes a blank. */
const parseResponse = responseParser({
  lowerCase: false,
  refusesNestedTags: true,
  acceptsBlank: () => false,
});

/** Every reply counts, in collection too: nothing is known of how to take one back. */
const PROTOCOLS = playProtocols(SCIENCEWORLD.limits.historyPairs);

export function customRules(name: string): EnvironmentRules {
  return {
    ...SCIENCEWORLD,
    name,
    // Nothing is known of its prompts: none is cut.
    longPrompt: "refuse",
    locate: null,
    compareStates: null,
    parseResponse,
    prompt: CUSTOM_PROMPT,
    protocols: { collect: PROTOCOLS.evaluate, ...PROTOCOLS },
    taskType: () => null,
    evaluationScore: () => null,
    sameText: (left, right) => left === right,
  };
}
