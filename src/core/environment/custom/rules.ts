/**
 * The rules of an environment that has none of its own. Its records bring their state keys, and everything else is as
 * in ScienceWorld: it admits the most while it asks the most of a recording (a suffix must be continuous), so that a
 * record is never ranked on trust alone and raw records are always labelled unverified.
 */
import type { EnvironmentRules } from "../environment.ts";
import { parseNonblankResponse } from "../tagged-response.ts";
import { CUSTOM_PROMPT } from "./prompt.ts";

export function customRules(name: string): EnvironmentRules {
  return {
    name,
    limits: {
      historyPairs: 5,
      decisions: 30,
      promptTokens: 10_240,
      responseTokens: 512,
      teacherContextTokens: 40_513,
      evidenceTokens: 40_000,
    },
    trustedSourcesOnly: false,
    admitsTerminalEntry: true,
    checksContinuity: true,
    testsUnalignedEntry: true,
    unverifiedFallback: true,
    locate: null,
    parseResponse: parseNonblankResponse,
    prompt: CUSTOM_PROMPT,
  };
}
