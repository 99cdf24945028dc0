/** ScienceWorld's rules, gathered from the files beside this one. */
import type { EnvironmentRules } from "../rules.ts";
import { locateCase } from "./locate-case.ts";
import { SCIENCEWORLD_PROMPT } from "./prompt.ts";
import { SCIENCEWORLD_PROTOCOL } from "./protocol.ts";
import { parseResponse } from "./response.ts";
import { sameText } from "./same-text.ts";
import { treeChanges } from "./tree-difference.ts";

export const SCIENCEWORLD: EnvironmentRules = {
  name: "scienceworld",
  limits: {
    historyPairs: 5,
    decisions: 30,
    promptTokens: 10_240,
    responseTokens: 512,
    teacherContextTokens: 40_513,
    evidenceTokens: 40_000,
  },
  longPrompt: "keep-last",
  trustedSourcesOnly: false,
  planDecisions: null,
  // As the released library numbers them.
  plan: { kind: "planner", repetition: 1_000_000 },
  admitsTerminalEntry: true,
  checksContinuity: true,
  testsUnalignedEntry: true,
  unverifiedFallback: true,
  locate: locateCase,
  compareStates: treeChanges,
  parseResponse,
  taskType: (task) => task.split("|")[0]!,
  // The score may fall again, and a wrong focus ends at -100.
  evaluationScore: ({ decisions }) => Math.max(0, ...decisions.map(({ score }) => score ?? 0)),
  sameText,
  prompt: SCIENCEWORLD_PROMPT,
  protocols: SCIENCEWORLD_PROTOCOL,
};
