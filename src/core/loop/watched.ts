/** Decisions at which a run's student is looked at before, during and after: read, and not trained on by that. */
import { InputError } from "../errors.ts";
import type { ScoreRequest, Scorer } from "../ports.ts";
import type { Episode } from "../record/schema.ts";
import type { TextCodec } from "./codec.ts";
import type { TrainEvent } from "./events.ts";
import { recordedIds } from "./teacher-prompt.ts";

export interface WatchedDecision {
  episode: string;
  decision: number;
  action: string | null;
  /** Whether the run trains on its episode: its change then says nothing of others. */
  trained: boolean;
  request: ScoreRequest;
  /** The response's tokens that are the action: from, and up to. */
  span: readonly [from: number, to: number];
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
  { codec, trained }: { codec: TextCodec; trained: boolean },
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
  return { episode: episode.episode, decision, action, trained, request, span: actionSpan(pieces, action) };
}

/**
 * The tokens of a response that its action stands in, the last time it is named there; all of them where it is not found
 * word for word.
 */
export function actionSpan(pieces: readonly string[], action: string | null): [from: number, to: number] {
  const at = action === null || action === "" ? -1 : pieces.join("").lastIndexOf(action);
  if (action === null || at < 0) return [0, pieces.length];
  let [start, from, to] = [0, pieces.length, 0];
  for (const [n, piece] of pieces.entries()) {
    const end = start + piece.length;
    if (end > at && start < at + action.length) {
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
