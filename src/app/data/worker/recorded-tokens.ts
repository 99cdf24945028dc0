import type { Episode, EpisodeDecision } from "../../../core/record/schema.ts";
import type { Tokenizer } from "../../../text/index.ts";
import type { RecordedTokens } from "../model.ts";
import type { RecordedScores } from "./recorded-scores.ts";

/** What was recorded of a decision's tokens: the student's log-probabilities and a teacher's; null where nothing was. */
export async function recordedTokens(
  episode: Episode,
  decision: number,
  scores: RecordedScores,
  tokenizers: readonly Tokenizer[],
): Promise<RecordedTokens | null> {
  const { response_ids: ids, response, rollout_logprobs: student = null } = episode.decisions[decision]!;
  const scored = await scores.get(episode.episode, decision);
  if (scored === null && student === null) return null;
  const length = ids?.length ?? student?.length ?? scored!.logprobs.length;
  const fits = scored === null || scored.logprobs.length === length;
  return {
    ids: ids ?? null,
    ...recordedPieces(tokenizers, ids ?? null, response ?? null, length),
    teacher: fits ? (scored?.logprobs ?? null) : null,
    teacherSource: scored?.source ?? null,
    student,
    problem: fits
      ? null
      : `${scored.source} has ${scored.logprobs.length} log-probabilities for ${length} response tokens`,
  };
}

/** Characters at a prompt's end that its ids must spell: its beginning may have been cut to a limit. */
const PROMPT_END = 400;

/**
 * Whether a decision's recorded ids are another tokenizer's: they do not spell what was recorded as text. Where no text
 * was recorded there is nothing to tell it by, and nothing else to encode.
 */
export function foreignIds(tokenizer: Tokenizer, recorded: EpisodeDecision): boolean {
  const { response, response_ids: ids, prompt, prompt_ids: promptIds } = recorded;
  if (ids !== undefined && response !== undefined && spelled(tokenizer, ids) !== bare(response)) return true;
  if (promptIds === undefined || prompt === undefined) return false;
  return spelled(tokenizer, promptIds)?.includes(bare(prompt).slice(-PROMPT_END)) !== true;
}

/**
 * Whether a recorded response ends its turn, by the first tokenizer that may have recorded it: from its last id, or from
 * the number of the rollout's log-probabilities beside its text. Null where neither shows it.
 */
export function endsTurn(tokenizers: readonly Tokenizer[], recorded: EpisodeDecision): boolean | null {
  const { response, response_ids: ids, rollout_logprobs: drawn } = recorded;
  for (const tokenizer of tokenizers) {
    if (ids !== undefined) {
      if (!foreignIds(tokenizer, recorded)) return ids.at(-1) === tokenizer.endOfTurnId;
    } else if (drawn !== undefined && response !== undefined) {
      const more = drawn.length - tokenizer.count(response, { special: false });
      if (more === 0 || more === 1) return more === 1;
    }
  }
  return null;
}

/** White space and special tokens apart, which recorders take away or add. */
const bare = (text: string): string => text.replace(/\s+/gu, "");

/** What ids spell; null where one is not the tokenizer's. */
function spelled(tokenizer: Tokenizer, ids: readonly number[]): string | null {
  if (!ids.every((id) => tokenizer.hasToken(id))) return null;
  return bare(tokenizer.decode(ids, { skipSpecial: true }));
}

/** The texts of recorded tokens, if one of the open tokenizers is the one that they were recorded with. */
function recordedPieces(
  tokenizers: readonly Tokenizer[],
  ids: readonly number[] | null,
  response: string | null,
  length: number,
): Pick<RecordedTokens, "pieces" | "piecesProblem"> {
  if (ids === null) {
    return {
      pieces: Array.from({ length }, (_, i) => `#${i}`),
      piecesProblem: "the record holds no response_ids: tokens are shown by their position",
    };
  }
  const fits = (each: Tokenizer): boolean =>
    response === null ? ids.every((id) => each.hasToken(id)) : spelled(each, ids) === bare(response);
  const tokenizer = tokenizers.find(fits);
  if (tokenizer !== undefined)
    return { pieces: tokenizer.pieces(ids).map((piece) => piece.text), piecesProblem: null };
  return {
    pieces: ids.map((id) => `[${id}]`),
    piecesProblem:
      tokenizers.length === 0
        ? "no tokenizer is open: tokens are shown by their id"
        : "recorded with another tokenizer than the open one: tokens are shown by their id",
  };
}
