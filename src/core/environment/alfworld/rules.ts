/**
 * ALFWorld's rules. Its library is a replay-checked catalog, so records that are not complete and verified stay out of
 * it altogether, nothing is ever retained unverified, and continuity need not be tested again.
 */
import type { EnvironmentRules } from "../rules.ts";
import { PLAIN_RULE, responseParser } from "../tagged-response.ts";
import { factChanges } from "./fact-difference.ts";
import { locateFacts } from "./locator.ts";
import { ALFWORLD_PROMPT } from "./prompt.ts";
import { ALFWORLD_PROTOCOL } from "./protocol.ts";
import { TASK_TYPES } from "./task-types.ts";

const TASK_TYPE = new RegExp(`(?:^|/)(${TASK_TYPES.join("|")})-`);

export const ALFWORLD: EnvironmentRules = {
  name: "alfworld",
  limits: {
    historyPairs: 5,
    decisions: 30,
    promptTokens: 10_240,
    responseTokens: 512,
    teacherContextTokens: 40_513,
    evidenceTokens: 40_000,
  },
  longPrompt: "refuse",
  trustedSourcesOnly: true,
  planDecisions: 30,
  plan: { kind: "planner", repetition: 16 },
  admitsTerminalEntry: false,
  checksContinuity: false,
  testsUnalignedEntry: false,
  unverifiedFallback: false,
  locate: locateFacts,
  compareStates: factChanges,
  parseResponse: responseParser(PLAIN_RULE),
  taskType: (task) => TASK_TYPE.exec(task)?.[1] ?? null,
  evaluationScore: () => null,
  sameText: (left, right) => left === right,
  prompt: ALFWORLD_PROMPT,
  protocols: ALFWORLD_PROTOCOL,
};
