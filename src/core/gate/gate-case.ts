/**
 * The gate before students are trained: at a decision whose optimal actions are known, how probable each context makes
 * one of them to the teacher. A context that does not move the teacher towards what is right cannot teach it.
 */
import { beforeAction } from "../environment/tagged-response.ts";
import { InputError } from "../errors.ts";
import { evidenceInput } from "../evidence/index.ts";
import type { TextCodec } from "../loop/codec.ts";
import { teacherPrompt } from "../loop/teacher-prompt.ts";
import type { ScoreRequest, ScoreResult } from "../ports.ts";
import type { Episode, OptimalActions } from "../record/schema.ts";
import type { PreparedTask } from "../retrieval/prepare.ts";
import { retrieve } from "../retrieval/retrieve.ts";
import type { Control } from "../retrieval/types.ts";

/** What the teacher may read at a decision: h_t alone, or h_t with R_t under one of the controls; from least to most. */
export const GATE_CONTEXTS = [
  "none",
  "hindsight-only",
  "minimum-prefix",
  "success-only",
  "graph",
] as const satisfies readonly ("none" | Control)[];
export type GateContext = (typeof GATE_CONTEXTS)[number];

/** One action whose probability is asked for. */
export interface CandidateAction {
  action: string;
  optimal: boolean;
  /** The student took it. */
  taken: boolean;
}

/** One decision, with everything that a teacher has to score. */
export interface GateCase {
  environment: string;
  task: string;
  episode: string;
  decision: number;
  /** The optimal ones first, as they were given; then the student's own where it is none of them. */
  actions: readonly CandidateAction[];
  contexts: readonly { context: GateContext; promptTokens: number; read: number }[];
  /** [distinct contexts × actions], the actions of a context together. Contexts that read the same are scored once. */
  requests: readonly ScoreRequest[];
}

/** What the teacher made of one context. */
export interface GateReading {
  context: GateContext;
  /** Tokens of h_t with its evidence. */
  promptTokens: number;
  /** [actions] Σ log q over the tokens of each action, natural log. */
  logprobs: readonly number[];
  /** Probability of an optimal action: Σ exp of the optimal ones' `logprobs`. */
  optimal: number;
}

/** One scored decision. */
export interface GateDecision extends Pick<GateCase, "environment" | "task" | "episode" | "decision"> {
  actions: readonly CandidateAction[];
  readings: readonly GateReading[];
}

/**
 * Checks a line of optimal actions against the student episodes.
 *
 * @param found task and number of decisions of the episode with its id; undefined where there is none
 * @param where of the line
 * @throws InputError when there is none, it is of another task, or it has no such decision
 */
export function checkOptimal(
  { task, episode, decision }: OptimalActions,
  found: { task: string; decisions: number } | undefined,
  where: { file?: string; line?: number },
): void {
  const named = `episode ${JSON.stringify(episode)}`;
  if (found === undefined)
    throw new InputError(`no ${named} among the student episodes`, { ...where, key: "episode" });
  if (found.task !== task)
    throw new InputError(
      `${named} is of task ${JSON.stringify(found.task)}, not of ${JSON.stringify(task)}`,
      { ...where, key: "task" },
    );
  if (decision >= found.decisions)
    throw new InputError(`${named} has ${found.decisions} decisions, counted from 0; received ${decision}`, {
      ...where,
      key: "decision",
    });
}

/**
 * The responses of a decision, one per action: the student's own up to `<action>`, its thought as it was, then the action
 * and `</action>`, encoded as one text. Tokens are scored from the first one on that is not the same whatever the action:
 * those of the text up to `<action>`, as far as all responses and that text alone have them in common. A tokenizer that
 * joins the bracket with an action's first word is so counted from the bracket on, for every action. After the
 * shared tokens no response is a prefix of another, since each is closed: their probabilities are of events that exclude
 * each other.
 */
export function candidateResponses(
  response: string,
  actions: readonly string[],
  encode: TextCodec["encode"],
): { shared: number[]; scored: number[][] } {
  const before = beforeAction(response);
  const ids = actions.map((action) => encode(`${before}${action}</action>`));
  const alone = encode(before);
  const differs = alone.findIndex((id, i) => ids.some((each) => each[i] !== id));
  const kept = differs < 0 ? alone.length : differs;
  return { shared: alone.slice(0, kept), scored: ids.map((each) => each.slice(kept)) };
}

/**
 * One decision of a completed episode, ready to be scored.
 *
 * @param prepared the task over the sources that take part
 * @throws InputError when the decision carries no prompt or no response, or the evidence does not fit the teacher's
 * context
 */
export function gateCase(
  prepared: PreparedTask,
  episode: Episode,
  { decision, optimal }: Pick<OptimalActions, "decision" | "optimal">,
  codec: TextCodec,
  contexts: readonly GateContext[] = GATE_CONTEXTS,
): GateCase {
  const place = { episode: episode.episode, decision };
  const recorded = episode.decisions[decision]!;
  const { ids: promptIds } = codec.prompt(recorded, episode.environment, place);
  const response = recorded.response ?? codec.decode(codec.responseIds(recorded, episode.environment, place));
  const own = recorded.action;
  const actions = optimal.map((action) => ({ action, optimal: true, taken: action === own }));
  if (own !== null && own !== "" && !optimal.includes(own))
    actions.push({ action: own, optimal: false, taken: true });
  const { shared, scored } = candidateResponses(
    response,
    actions.map(({ action }) => action),
    codec.encode,
  );
  const longest = shared.length + Math.max(...scored.map(({ length }) => length));
  const distinct = new Map<string, number>();
  const requests: ScoreRequest[] = [];
  const read = contexts.map((context) => {
    const ids = contextIds(context);
    const key = ids.join();
    let at = distinct.get(key);
    if (at === undefined) {
      at = distinct.size;
      distinct.set(key, at);
      const prompt = [...ids, ...shared];
      for (const [n, responseIds] of scored.entries())
        requests.push({ id: `${context}/${n}`, promptIds: prompt, responseIds });
    }
    return { context, promptTokens: ids.length, read: at };
  });
  const { environment, task } = episode;
  return { environment, task, episode: episode.episode, decision, actions, contexts: read, requests };

  function contextIds(context: GateContext): readonly number[] {
    if (context === "none") return promptIds;
    const { record } = retrieve(prepared, episode, decision, { control: context });
    const input = evidenceInput(prepared, episode, record, context);
    return teacherPrompt(input, promptIds, longest, codec).promptIds;
  }
}

/** Tokens that a case gives to a teacher, contexts included. */
export function caseTokens({ requests }: GateCase): number {
  return requests.reduce((sum, { promptIds, responseIds }) => sum + promptIds.length + responseIds.length, 0);
}

/** A case with the teacher's results of its requests, in their order. */
export function gateDecision(
  { environment, task, episode, decision, actions, contexts }: GateCase,
  results: readonly Pick<ScoreResult, "logprobs">[],
): GateDecision {
  const readings = contexts.map(({ context, promptTokens, read }) => {
    const logprobs = actions.map((_, n) =>
      results[read * actions.length + n]!.logprobs.reduce((sum, logprob) => sum + logprob, 0),
    );
    const optimal = actions.reduce(
      (sum, action, n) => sum + (action.optimal ? Math.exp(logprobs[n]!) : 0),
      0,
    );
    return { context, promptTokens, logprobs, optimal };
  });
  return { environment, task, episode, decision, actions, readings };
}
