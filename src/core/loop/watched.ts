/** Decisions at which a run's student is looked at before, during and after: read, and not trained on by that. */
import { InputError } from "../errors.ts";
import type { ScoreRequest, Scorer } from "../ports.ts";
import type { Episode } from "../record/schema.ts";
import { foldWhiteSpace, WHITE_SPACE_CLASS } from "../white-space.ts";
import type { TextCodec } from "./codec.ts";
import type { TrainEvent } from "./events.ts";
import { recordedIds } from "./teacher-prompt.ts";

/** Whether a run trains on a decision that it watches: its change then says less of others. */
export interface TrainedOn {
  /** On its episode, as it was recorded. */
  trained: boolean;
  /** On its task: on this episode or others of it, or as the student plays it. */
  taskTrained: boolean;
}

export interface WatchedDecision extends TrainedOn {
  episode: string;
  decision: number;
  action: string | null;
  request: ScoreRequest;
  /** The response's tokens that are the action: from, and up to. */
  span: readonly [from: number, to: number];
  /** The action is not found in the response, so that all of it is the span. */
  whole: boolean;
}

export interface Watch {
  /** Optimizer steps between two looks. */
  every: number;
  decisions: readonly WatchedDecision[];
}

/**
 * A recorded decision as the student reads it, without evidence.
 *
 * @throws InputError naming the episode when it has no such decision, or the decision has no prompt or no response
 */
export function watchedDecision(
  episode: Episode,
  decision: number,
  { codec, trained, taskTrained }: TrainedOn & { codec: TextCodec },
): WatchedDecision {
  const recorded = episode.decisions[decision];
  if (recorded === undefined) {
    throw new InputError(
      `episode ${JSON.stringify(episode.episode)} has ${episode.decisions.length} decisions, none with number ${decision}`,
    );
  }
  const { prompt, responseIds } = recordedIds(episode, decision, codec);
  const { action } = recorded;
  const pieces = responseIds.map((id) => codec.decode([id]));
  const request = { id: `${episode.episode} ${decision}`, promptIds: prompt.ids, responseIds };
  const span = actionSpan(pieces, action);
  const found = { span: span ?? ([0, pieces.length] as const), whole: span === null };
  return { episode: episode.episode, decision, action, trained, taskTrained, request, ...found };
}

/**
 * The tokens of a response that its action stands in, the last time it is named: between the action tags where it has
 * them. As the parsers do, this ignores case and folds white space. Null where the action is not found.
 */
export function actionSpan(
  pieces: readonly string[],
  action: string | null,
): [from: number, to: number] | null {
  const words = foldWhiteSpace(action ?? "");
  if (words === "") return null;
  const text = pieces.join("");
  const tag = text.lastIndexOf("<action>");
  const begin = tag < 0 ? 0 : tag + "<action>".length;
  const close = text.indexOf("</action>", begin);
  const inside = text.slice(begin, tag < 0 || close < 0 ? undefined : close);
  const literal = words.replace(/[.*+?^${}()|[\]\\]/g, "\\$&").replaceAll(" ", `${WHITE_SPACE_CLASS}+`);
  const last = [...inside.matchAll(new RegExp(literal, "gi"))].at(-1);
  if (last === undefined) return null;
  const at = begin + last.index;
  let [start, from, to] = [0, pieces.length, 0];
  for (const [n, piece] of pieces.entries()) {
    const end = start + piece.length;
    if (end > at && start < at + last[0].length) {
      from = Math.min(from, n);
      to = n + 1;
    }
    start = end;
  }
  return [from, to];
}

/** How likely the student finds each action after `step` steps. */
export async function lookAtWatched(
  student: Pick<Scorer, "score" | "forget">,
  step: number,
  { decisions }: Watch,
  signal?: AbortSignal,
): Promise<Extract<TrainEvent, { type: "held-out" }>> {
  const results = await student.score(
    decisions.map(({ request }) => request),
    { signal },
  );
  // What follows must not depend on whether anyone looked.
  student.forget?.();
  return {
    type: "held-out",
    step,
    decisions: decisions.map(({ request: _, span, ...decision }, n) => ({
      ...decision,
      logprob: results[n]!.logprobs.subarray(...span).reduce((sum, each) => sum + each, 0),
    })),
  };
}
