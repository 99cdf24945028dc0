/** WebShop's rules: retrieval as in ScienceWorld, other limits, and pages for states. */
import type { EnvironmentRules } from "../rules.ts";
import { PLAIN_RULE, responseParser } from "../tagged-response.ts";
import { locatePage } from "./locate-page.ts";
import { pageChanges } from "./page-difference.ts";
import { WEBSHOP_PROMPT } from "./prompt.ts";
import { WEBSHOP_PROTOCOL } from "./protocol.ts";

export const WEBSHOP: EnvironmentRules = {
  name: "webshop",
  limits: {
    historyPairs: 2,
    decisions: 15,
    promptTokens: 63_488,
    responseTokens: 2_048,
    teacherContextTokens: 262_144,
    evidenceTokens: 260_095,
  },
  longPrompt: "refuse",
  trustedSourcesOnly: false,
  planDecisions: null,
  plan: { kind: "oracle", repetition: 16 },
  admitsTerminalEntry: true,
  checksContinuity: true,
  testsUnalignedEntry: true,
  unverifiedFallback: true,
  locate: locatePage,
  compareStates: pageChanges,
  parseResponse: responseParser(PLAIN_RULE),
  taskType: () => null,
  evaluationScore: ({ outcome: { ended, score } }) => (ended === "environment" ? 100 * (score ?? 0) : 0),
  sameText: (left, right) => left === right,
  prompt: WEBSHOP_PROMPT,
  protocols: WEBSHOP_PROTOCOL,
};
