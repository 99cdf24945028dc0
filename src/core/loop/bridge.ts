/**
 * FutureBridge: where the student's response is least what the teacher would say, the teacher responds in its place. The
 * response joins the batch if the student, played on behind it, agrees with the teacher more than behind its own.
 */
import { InputError } from "../errors.ts";
import type { StageBridge } from "../method/method.ts";
import type { SampleResult, Sampler, Scorer } from "../ports.ts";
import type { Episode, EpisodeDecision } from "../record/schema.ts";
import { seedOf } from "../seeded.ts";
import type { TextCodec } from "./codec.ts";
import type { Branch, RolloutContext, TrainingData } from "./data.ts";
import { drawRequest } from "./play.ts";
import { batchRows, type Row } from "./rows.ts";

/** A student's decision with both models' log-probabilities of its response. */
export interface ScoredRow {
  row: Row;
  /** [response tokens] log p, of the student that drew it. */
  student: ArrayLike<number>;
  /** [response tokens] log q. */
  teacher: ArrayLike<number>;
}

/** What became of an episode's bridge. */
export type BridgeVerdict =
  /** It joins the batch. */
  | "accepted"
  /** The student agrees with the teacher no more behind it. */
  | "refused"
  /** An action of a branch was malformed or rejected, or its episode ended before all turns were played. */
  | "invalid";

/** One bridge with its two branches, base first. */
export interface JudgedBridge {
  row: Row;
  verdict: BridgeVerdict;
  /** Shares of continuation tokens with log q > log p, behind the student's own response and behind the bridge. */
  ratios: { base: number; bridge: number } | null;
}

/**
 * The turn of an episode that is bridged: of those that are not its last and have an action, the one with the largest mean
 * over tokens of log p − log q, the first of equals. Null where there is none.
 *
 * @param rows of one episode, in order
 */
export function bridgedTurn(rows: readonly ScoredRow[]): ScoredRow | null {
  let worst: ScoredRow | null = null;
  let most = Number.NEGATIVE_INFINITY;
  for (const each of rows) {
    const { episode, decision } = each.row;
    if (decision === episode.decisions.length - 1 || episode.decisions[decision]!.action === null) continue;
    const mean = meanDifference(each);
    if (mean > most) [worst, most] = [each, mean];
  }
  return worst;
}

/**
 * Tries a bridge for each episode that has a turn for one: the teacher responds at temperature 1 to what the student
 * read, and both responses are played on by the student in environments of their own. The base branch is played afresh,
 * too.
 *
 * @param rows of whole episodes, those of one episode neighbours
 * @param teacher it must sample
 * @param context its `onPlayed` is called between the last continuation and the teacher's scores of all
 * @throws InputError for a teacher that only scores, and for data that cannot be played on
 */
export async function bridges(
  rows: readonly ScoredRow[],
  { turns }: StageBridge,
  teacher: Scorer,
  data: Pick<TrainingData, "branches">,
  context: RolloutContext & { seed: number; onPlayed?: () => void },
): Promise<JudgedBridge[]> {
  const { codec, signal, policyVersion, seed } = context;
  const sampler = samplerOf(teacher);
  if (data.branches === undefined) {
    throw new InputError("a bridge needs a live environment: recorded episodes cannot be played on");
  }
  const chosen = byEpisode(rows).flatMap((each) => bridgedTurn(each) ?? []);
  if (chosen.length === 0) return [];
  const { maxTokens, play } = data.branches;
  // A device may round differently with what it kept of earlier prompts: a run that goes on has kept nothing.
  sampler.forget?.();
  const drawn = await sampler.sample(
    chosen.map(({ row: { episode, decision, promptIds } }) =>
      drawRequest(
        {
          episode: episode.episode,
          maxTokens: maxTokens(episode),
          sampling: { temperature: 1, topP: 1, topK: null },
        },
        promptIds,
        seedOf(`bridge|${episode.episode}|${decision}|${policyVersion}|${seed}`),
        codec,
      ),
    ),
    { signal },
  );
  const branches = chosen.flatMap(({ row }, n): Branch[] => {
    const { episode, decision } = row;
    const branch = (id: string, response: SampleResult, repetition: number): Branch => ({
      id: `${episode.episode}~${id}`,
      ...{ episode, decision, response, turns, repetition },
    });
    return [branch("base", ownResponse(row, codec), -1), branch("bridge", drawn[n]!, -2)];
  });
  const played = await play(branches, context);
  context.onPlayed?.();
  const ratios = await agreements(played, branches, teacher, codec, signal);
  return chosen.map(({ row }, n): JudgedBridge => {
    const [base, bridge] = [ratios[2 * n]!, ratios[2 * n + 1]!];
    const bridged = { ...row, responseIds: drawn[n]!.responseIds, rolloutLogprobs: null };
    if (base === null || bridge === null) return { row: bridged, verdict: "invalid", ratios: null };
    return { row: bridged, verdict: bridge > base ? "accepted" : "refused", ratios: { base, bridge } };
  });
}

function samplerOf(teacher: Scorer): Sampler {
  if (canSample(teacher)) return teacher;
  throw new InputError(
    `the engine of the teacher ${teacher.info.model} only scores: the stage's bridge needs one that samples`,
    { key: "teacher" },
  );
}

export const canSample = (teacher: Scorer): teacher is Scorer & Sampler =>
  "sample" in teacher && typeof teacher.sample === "function";

/** The student's response as it was drawn. */
function ownResponse({ responseIds, rolloutLogprobs }: Row, { endOfTurnId }: TextCodec): SampleResult {
  return {
    id: "",
    responseIds,
    logprobs: Float32Array.from(rolloutLogprobs ?? responseIds.map(() => Number.NaN)),
    stop: responseIds.at(-1) === endOfTurnId ? "stop" : "length",
  };
}

/** Per branch: the share of its continuation's tokens with log q > log p; null where it is not valid. */
async function agreements(
  played: readonly Episode[],
  branches: readonly Branch[],
  teacher: Pick<Scorer, "score">,
  codec: TextCodec,
  signal: AbortSignal | undefined,
): Promise<(number | null)[]> {
  const continued = played.map((episode, n) => {
    const { decision, turns } = branches[n]!;
    const own = episode.decisions.slice(decision);
    if (own.length < 1 + turns || !own.every(isValid)) return null;
    return batchRows([episode], codec).filter((row) => row.decision > decision);
  });
  const rows = continued.flatMap((each) => each ?? []);
  const scores = await teacher.score(
    rows.map(({ episode, decision, promptIds, responseIds }) => ({
      id: `${episode.episode}#${decision}`,
      promptIds,
      responseIds,
    })),
    { signal },
  );
  let next = 0;
  return continued.map((each) => {
    if (each === null) return null;
    const teachers = scores.slice(next, next + each.length);
    next += each.length;
    return agreement(
      each.map((row, n) => ({ row, student: row.rolloutLogprobs!, teacher: teachers[n]!.logprobs })),
    );
  });
}

function agreement(rows: readonly ScoredRow[]): number {
  let agreeing = 0;
  let tokens = 0;
  for (const { student, teacher } of rows)
    for (let i = 0; i < student.length; i += 1) {
      tokens += 1;
      if (teacher[i]! > student[i]!) agreeing += 1;
    }
  return agreeing / tokens;
}

const isValid = ({ action, status }: EpisodeDecision): boolean =>
  action !== null && (status === "executed" || status === "binding");

function meanDifference({ student, teacher }: ScoredRow): number {
  let sum = 0;
  for (let i = 0; i < student.length; i += 1) sum += student[i]! - teacher[i]!;
  return sum / student.length;
}

function byEpisode(rows: readonly ScoredRow[]): ScoredRow[][] {
  const groups = new Map<Episode, ScoredRow[]>();
  for (const each of rows) groups.set(each.row.episode, [...(groups.get(each.row.episode) ?? []), each]);
  return [...groups.values()];
}
