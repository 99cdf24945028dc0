/**
 * What evidence is worth to a teacher, measured where the answer is known: at each decision that retains a successful
 * source by its current state, the log-probability of that source's own next action, without and with R_t in the
 * context. Execution evidence that means something to the teacher raises it (Section 3.3, "Current-state evidence").
 */
import { beforeAction } from "../environment/tagged-response.ts";
import type { Scorer, WorkOptions } from "../ports.ts";
import { type Episode, hasPrompt } from "../record/schema.ts";
import type { PreparedTask } from "../retrieval/prepare.ts";
import { retrieveEpisode } from "../retrieval/retrieve.ts";
import type { TextCodec } from "./codec.ts";
import type { TeacherContexts } from "./score-batch.ts";

/** One decision with the two contexts and the response in which the source's action replaces the student's. */
export interface SourceActionCase {
  task: string;
  episode: string;
  decision: number;
  source: string;
  position: number;
  /** The source's next action. */
  action: string;
  /** h_t. */
  promptIds: readonly number[];
  /** h_t with R_t. */
  evidencePromptIds: readonly number[];
  /** The student's thought, if it wrote one, and the source's action. */
  responseIds: readonly number[];
  /** Response tokens [start, end) that carry the action's text. */
  actionTokens: readonly [start: number, end: number];
}

export interface SourceActionResult {
  case: SourceActionCase;
  /** Σ log q over the action's tokens under h_t, natural log. */
  without: number;
  /** The same under h_t with R_t. */
  with: number;
}

/** Cases of one completed episode, in order. Empty where no decision retains a current successful source. */
export async function sourceActionCases(
  prepared: PreparedTask,
  episode: Episode,
  contexts: TeacherContexts,
  codec: TextCodec,
): Promise<SourceActionCase[]> {
  const context = await contexts(episode, { kind: "graph-conditioned", control: "graph" });
  return retrieveEpisode(prepared, episode).flatMap(({ record }) => {
    const { success, decision: t } = record;
    if (success?.relation !== "current" || success.position === null) return [];
    const decision = episode.decisions[t]!;
    const action = prepared.source(success.source)?.decisions[success.position]?.action;
    // A terminal entry has no next action; a decision without its prompt has no context to score in.
    if (action === undefined || action === null || action === "") return [];
    if (!hasPrompt(decision)) return [];
    const place = { episode: episode.episode, decision: t };
    const { ids: promptIds } = codec.prompt(decision, episode.environment, place);
    const before = beforeAction(decision.response ?? "");
    const responseIds = codec.encode(`${before}${action}</action>`);
    return [
      {
        task: episode.task,
        episode: episode.episode,
        decision: t,
        source: success.source,
        position: success.position,
        action,
        promptIds,
        evidencePromptIds: context(t, promptIds, responseIds.length).promptIds,
        responseIds,
        actionTokens: tokensOf(codec, responseIds, before.length, before.length + action.length),
      },
    ];
  });
}

/** Tokens whose text overlaps characters [start, end): a token may also carry a character of the tag beside it. */
function tokensOf(
  codec: TextCodec,
  ids: readonly number[],
  start: number,
  end: number,
): [start: number, end: number] {
  const ends = ids.map((_, i) => codec.decode(ids.slice(0, i + 1)).length);
  const first = ends.findIndex((at) => at > start);
  const last = ends.findIndex((at) => at >= end);
  return [first, last + 1];
}

/** Scores the cases under both contexts with one teacher. */
export async function scoreSourceActions(
  teacher: Pick<Scorer, "score">,
  cases: readonly SourceActionCase[],
  options: WorkOptions = {},
): Promise<SourceActionResult[]> {
  const results = await teacher.score(
    cases.flatMap((item, n) => [
      { id: `${n}/without`, promptIds: item.promptIds, responseIds: item.responseIds },
      { id: `${n}/with`, promptIds: item.evidencePromptIds, responseIds: item.responseIds },
    ]),
    options,
  );
  const sum = (n: number, [start, end]: readonly [number, number]) =>
    results[n]!.logprobs.subarray(start, end).reduce((total, value) => total + value, 0);
  return cases.map((item, n) => ({
    case: item,
    without: sum(2 * n, item.actionTokens),
    with: sum(2 * n + 1, item.actionTokens),
  }));
}
