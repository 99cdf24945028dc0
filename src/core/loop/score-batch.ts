/** Retrieve, Render and Score (Algorithm 1, lines 5–15) for one batch. */
import type { StageEvidence } from "../method/method.ts";
import type { Scorer, TrainItem, WorkOptions } from "../ports.ts";
import type { Episode } from "../record/schema.ts";
import { type RolloutPolicy, type Row, rolloutPolicy } from "./rows.ts";

/** What the teacher reads for one decision. */
export interface TeacherContext {
  promptIds: readonly number[];
  successReference: boolean;
  failureReference: boolean;
  /** Repeated observations were replaced by back-references to fit. */
  backReferences: boolean;
}

/** Retrieve and Render (Algorithm 1, lines 6–14): teacher contexts of all decisions of one completed episode. */
export type TeacherContexts = (
  episode: Episode,
  evidence: StageEvidence,
) => Promise<(decision: number, promptIds: readonly number[], responseTokens: number) => TeacherContext>;

/** What the teacher read of a batch: the figures of its `scored` event. */
export interface ScoredBatch {
  decisions: number;
  /** Response tokens. */
  tokens: number;
  /** Tokens that the teacher read, responses included. */
  contextTokens: number;
  /** Decisions whose evidence names a successful and a failed external record. */
  successReferences: number;
  failureReferences: number;
  /** Decisions whose evidence needed back-references to fit. */
  backReferences: number;
  /** Decisions whose student prompt was over its limit, so that only its last tokens were read. */
  cutPrompts: number;
  rolloutPolicy: RolloutPolicy;
}

/** The student's rows with the teacher's log-probabilities, in the order of `rows`. */
export async function scoreBatch(
  rows: readonly Row[],
  evidence: StageEvidence,
  teacher: Pick<Scorer, "score">,
  contextsOf: TeacherContexts,
  { signal, onProgress }: WorkOptions = {},
): Promise<{ items: TrainItem[]; scored: ScoredBatch }> {
  const items: TrainItem[] = [];
  const tokens = rows.reduce((sum, row) => sum + row.responseIds.length, 0);
  const totals = { contextTokens: tokens, successReferences: 0, failureReferences: 0, backReferences: 0 };
  // An episode at a time: its contexts, which may be long, are let go before the next one's are made.
  for (const episodeRows of byEpisode(rows)) {
    signal?.throwIfAborted();
    const contextOf = await contextsOf(episodeRows[0]!.episode, evidence);
    const contexts = episodeRows.map(({ decision, promptIds, responseIds }) =>
      contextOf(decision, promptIds, responseIds.length),
    );
    for (const context of contexts) {
      totals.contextTokens += context.promptIds.length;
      totals.successReferences += context.successReference ? 1 : 0;
      totals.failureReferences += context.failureReference ? 1 : 0;
      totals.backReferences += context.backReferences ? 1 : 0;
    }
    items.push(...(await scoreRows(episodeRows, contexts, teacher, signal)));
    onProgress?.({ done: items.length, total: rows.length, unit: "decisions" });
  }
  const cutPrompts = rows.filter(({ cut }) => cut > 0).length;
  const scored = {
    decisions: rows.length,
    tokens,
    ...totals,
    cutPrompts,
    rolloutPolicy: rolloutPolicy(rows),
  };
  return { items, scored };
}

async function scoreRows(
  rows: readonly Row[],
  contexts: readonly TeacherContext[],
  teacher: Pick<Scorer, "score">,
  signal: AbortSignal | undefined,
): Promise<TrainItem[]> {
  const results = await teacher.score(
    rows.map((row, n) => ({
      id: `${row.episode.episode}#${row.decision}`,
      promptIds: contexts[n]!.promptIds,
      responseIds: row.responseIds,
    })),
    { signal },
  );
  return rows.map((row, n) => ({
    episode: row.episode.episode,
    decision: row.decision,
    promptIds: row.promptIds,
    responseIds: row.responseIds,
    teacherLogprobs: results[n]!.logprobs,
    rolloutLogprobs: row.rolloutLogprobs,
    weight: row.weight,
  }));
}

/** The rows of each episode, in order: those of one episode are neighbours. */
function byEpisode(rows: readonly Row[]): Row[][] {
  const groups: Row[][] = [];
  for (const row of rows) {
    const last = groups.at(-1);
    if (last !== undefined && last[0]!.episode === row.episode) last.push(row);
    else groups.push([row]);
  }
  return groups;
}
