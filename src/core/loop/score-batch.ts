/** Retrieve, Render and Score (Algorithm 1, lines 5–15) for one batch. */
import { checkDistributionBytes } from "../distribution-bound.ts";
import { InputError } from "../errors.ts";
import type { Stage, StageEvidence } from "../method/method.ts";
import { maskedTokens, SAMPLED_TOKEN, type Signal } from "../method/signal.ts";
import type { ScoreOptions, ScoreResult, Scorer, TrainItem, WorkOptions } from "../ports.ts";
import type { Episode } from "../record/schema.ts";
import { type RolloutPolicy, type Row, rolloutPolicy } from "./rows.ts";

/**
 * Context tokens that make a call of the scorer worthwhile. With a small model, a call for less costs more in waiting
 * than in computing; with long contexts one episode has as many, and more would only hold memory.
 */
const ENOUGH_TOKENS = 2 ** 17;

/** What the teacher reads for one decision. */
export interface TeacherContext {
  promptIds: readonly number[];
  /** What the records in the places of a successful and of a failed one are; null where there is none. */
  successReference: "trusted" | "unverified" | null;
  failureReference: "trusted" | "unverified" | "unknown outcome" | null;
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
  /** Decisions whose evidence names a successful and a failed external record, unverified ones included. */
  successReferences: number;
  failureReferences: number;
  /** Those among them that are unverified claims. Runs of an earlier version did not tell them apart. */
  unverifiedSuccesses?: number;
  unverifiedFailures?: number;
  /** Decisions with a record of unknown outcome in the place of a failed one. Such runs counted them as failed. */
  unknownOutcomes?: number;
  /** Decisions whose evidence needed back-references to fit. */
  backReferences: number;
  /** Decisions whose student prompt was over its limit, so that only its last tokens were read. */
  cutPrompts: number;
  rolloutPolicy: RolloutPolicy;
}

/**
 * The student's rows with what the stage's signal needs of the teacher, in the order of `rows`.
 *
 * @throws InputError where the teacher's distributions of all rows would not fit into memory
 */
export async function scoreBatch(
  rows: readonly Row[],
  { evidence, signal: compared = SAMPLED_TOKEN }: Pick<Stage, "evidence" | "signal">,
  teacher: Pick<Scorer, "score" | "info">,
  contextsOf: TeacherContexts,
  { signal, onProgress }: WorkOptions = {},
): Promise<{ items: TrainItem[]; scored: ScoredBatch }> {
  const items: TrainItem[] = [];
  const tokens = rows.reduce((sum, row) => sum + row.responseIds.length, 0);
  if (compared.kind === "full-vocabulary")
    checkDistributionBytes("the teacher's scores of a batch", tokens, teacher.info.vocabulary);
  const totals = {
    ...{ contextTokens: tokens, backReferences: 0 },
    ...{ successReferences: 0, unverifiedSuccesses: 0 },
    ...{ failureReferences: 0, unverifiedFailures: 0, unknownOutcomes: 0 },
  };
  let scoring: Promise<TrainItem[]> = Promise.resolve([]);
  const tell = (done: number) => onProgress?.({ done, total: rows.length, unit: "decisions" });
  const scored = async (): Promise<void> => {
    const some = await scoring;
    items.push(...some);
    if (some.length > 0) tell(items.length);
  };
  try {
    // Contexts are made while those before them are scored.
    for await (const some of readTogether(rows, evidence, contextsOf, signal)) {
      for (const { context } of some) {
        totals.contextTokens += context.promptIds.length;
        const { successReference: success, failureReference: failure } = context;
        if (success !== null) totals.successReferences++;
        if (success === "unverified") totals.unverifiedSuccesses++;
        if (failure === "unknown outcome") totals.unknownOutcomes++;
        else if (failure !== null) totals.failureReferences++;
        if (failure === "unverified") totals.unverifiedFailures++;
        totals.backReferences += context.backReferences ? 1 : 0;
      }
      await scored();
      signal?.throwIfAborted();
      const before = items.length;
      // A call may take minutes, so it reports its progress in units of its own.
      const onShare: WorkOptions["onProgress"] = ({ done, total }) => {
        if (done < total) tell(before + Math.floor((done / total) * some.length));
      };
      scoring = scoreRows(some, teacher, compared, { signal, onProgress: onShare });
      // An error comes to light where the scores are waited for.
      scoring.catch(() => {});
    }
    await scored();
  } finally {
    await Promise.allSettled([scoring]);
  }
  const cutPrompts = rows.filter(({ cut }) => cut > 0).length;
  return {
    items,
    scored: { decisions: rows.length, tokens, ...totals, cutPrompts, rolloutPolicy: rolloutPolicy(rows) },
  };
}

interface ReadRow {
  row: Row;
  context: TeacherContext;
}

/** Rows with their contexts, in groups of whole episodes: each but the last has at least ENOUGH_TOKENS context tokens. */
async function* readTogether(
  rows: readonly Row[],
  evidence: StageEvidence,
  contextsOf: TeacherContexts,
  signal: AbortSignal | undefined,
): AsyncGenerator<ReadRow[]> {
  let together: ReadRow[] = [];
  let tokens = 0;
  for (const episodeRows of byEpisode(rows)) {
    signal?.throwIfAborted();
    const contextOf = await contextsOf(episodeRows[0]!.episode, evidence);
    for (const row of episodeRows) {
      const context = contextOf(row.decision, row.promptIds, row.responseIds.length);
      together.push({ row, context });
      tokens += context.promptIds.length;
    }
    if (tokens < ENOUGH_TOKENS) continue;
    yield together;
    together = [];
    tokens = 0;
  }
  if (together.length > 0) yield together;
}

async function scoreRows(
  read: readonly ReadRow[],
  teacher: Pick<Scorer, "score">,
  compared: Signal,
  options: WorkOptions,
): Promise<TrainItem[]> {
  const results = await teacher.score(
    read.map(({ row, context }) => ({
      id: `${row.episode.episode}#${row.decision}`,
      promptIds: context.promptIds,
      responseIds: row.responseIds,
    })),
    { ...options, ...askedBy(compared) },
  );
  const rows = read.map(({ row }) => row);
  return unscoredItems(rows, { signal: compared }).map((item, n) => ({
    ...item,
    teacherLogprobs: results[n]!.logprobs,
    ...teacherTargets(compared, results[n]!),
  }));
}

/** Rows as a step takes them, without the teacher's part. */
export function unscoredItems(
  rows: readonly Row[],
  { signal = SAMPLED_TOKEN }: Pick<Stage, "signal">,
): TrainItem[] {
  return rows.map(({ episode, decision, promptIds, responseIds, rolloutLogprobs, weight }) => {
    const masked = maskedTokens(signal, responseIds);
    return {
      ...{ episode: episode.episode, decision, promptIds, responseIds },
      ...{ teacherLogprobs: null, rolloutLogprobs, weight },
      ...(masked === undefined ? {} : { masked }),
    };
  });
}

/** What a scorer is asked for beside the log-probabilities of the sampled tokens. */
export function askedBy(signal: Signal): Pick<ScoreOptions, "topK" | "distribution"> {
  if (signal.kind === "top-k") return { topK: signal.k };
  return signal.kind === "full-vocabulary" ? { distribution: true } : {};
}

/** What a step compares the student with, from a result to `askedBy`. @throws InputError where the scorer returned less */
export function teacherTargets(
  { kind }: Signal,
  { id, topIds, topLogprobs, distribution }: Omit<ScoreResult, "logprobs">,
): Pick<TrainItem, "teacherTop" | "teacherDistribution"> {
  if (kind === "sampled-token") return {};
  if (kind === "top-k" && topIds !== undefined && topLogprobs !== undefined)
    return { teacherTop: { ids: topIds, logprobs: topLogprobs } };
  if (kind === "full-vocabulary" && distribution !== undefined) return { teacherDistribution: distribution };
  throw new InputError(`${id}: the teacher did not tell what the signal ${JSON.stringify(kind)} compares`);
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
