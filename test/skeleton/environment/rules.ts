/**
 * The rules of a small environment, a corridor of numbered rooms. To start one of your own, copy this folder to
 * `src/core/environment/<name>/` and enter it in `ENVIRONMENTS` beside it. Its simulator is test/support/corridor.ts.
 */
import { z } from "zod";
import { checkCapture, requireName } from "../../../src/core/environment/capture.ts";
import { readPromptTemplate } from "../../../src/core/environment/prompt/template.ts";
import { playProtocols } from "../../../src/core/environment/protocol.ts";
import type { EnvironmentRules, Located } from "../../../src/core/environment/rules.ts";
import { entryChanges } from "../../../src/core/environment/state-change.ts";
import { PLAIN_RULE, responseParser } from "../../../src/core/environment/tagged-response.ts";
import template from "./prompt.json";

/** What the environment supplies for each prompt: the lists that a template may name. */
const LISTS = ["admissible_commands"];

const PROTOCOLS = playProtocols(2);

const roomSchema = z.looseObject({ room: z.int().min(0) });
/** One line of captured states; `room` is null where the capture was unreliable. */
const captureSchema = z.looseObject({ id: z.string().optional(), room: z.int().min(0).nullable() });

/** The same room is the same state; an unreliable capture matches nothing. */
function locate(raw: unknown, where: { file?: string; line?: number } = {}): Located {
  const { capture, id } = checkCapture(captureSchema, raw, where);
  const key = `room ${capture.room ?? "unknown"}`;
  const state = capture.room === null ? null : { key, mode: "normal", options: {} };
  return { id: requireName(id, where), key, state };
}

function compareStates(left: unknown, right: unknown) {
  const [from, to] = [roomSchema.safeParse(left), roomSchema.safeParse(right)];
  if (!from.success || !to.success) return null;
  return entryChanges([], { room: String(from.data.room) }, { room: String(to.data.room) });
}

export const CORRIDOR: EnvironmentRules = {
  name: "corridor",
  limits: {
    historyPairs: 2,
    decisions: 10,
    promptTokens: 4_096,
    responseTokens: 256,
    teacherContextTokens: 16_384,
    evidenceTokens: 16_000,
  },
  longPrompt: "refuse",
  trustedSourcesOnly: false,
  planDecisions: null,
  plan: { kind: "planner", repetition: 16 },
  admitsTerminalEntry: true,
  checksContinuity: true,
  testsUnalignedEntry: true,
  unverifiedFallback: true,
  locate,
  compareStates,
  parseResponse: responseParser(PLAIN_RULE),
  prompt: { lists: LISTS, template: readPromptTemplate(template, LISTS, { file: "corridor/prompt.json" }) },
  // Every reply counts, in collection too.
  protocols: { collect: PROTOCOLS.evaluate, ...PROTOCOLS },
  sameText: (left, right) => left === right,
  taskType: () => null,
  evaluationScore: ({ outcome }) => outcome.score ?? 0,
};
