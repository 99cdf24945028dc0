import type { Episode } from "../../core/record/schema.ts";
import type { Tokenizer } from "../../text/index.ts";
import type { RecordedTokens } from "../model.ts";
import type { RecordedScores } from "./recorded-scores.ts";

/** What was recorded of a decision's tokens: the student's log-probabilities and a teacher's; null where nothing was. */
export async function recordedTokens(
  episode: Episode,
  decision: number,
  scores: RecordedScores,
  tokenizer: Tokenizer | null,
): Promise<RecordedTokens | null> {
  const { response_ids: ids, response, rollout_logprobs: student = null } = episode.decisions[decision]!;
  const scored = await scores.get(episode.episode, decision);
  if (scored === null && student === null) return null;
  const length = ids?.length ?? student?.length ?? scored!.logprobs.length;
  const fits = scored === null || scored.logprobs.length === length;
  return {
    ids: ids ?? null,
    ...recordedPieces(tokenizer, ids ?? null, response ?? null, length),
    teacher: fits ? (scored?.logprobs ?? null) : null,
    teacherSource: scored?.source ?? null,
    student,
    problem: fits
      ? null
      : `${scored.source} has ${scored.logprobs.length} log-probabilities for ${length} response tokens`,
  };
}

/** The texts of recorded tokens, if the open tokenizer is the one that they were recorded with. */
function recordedPieces(
  tokenizer: Tokenizer | null,
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
  const plain = ids.map((id) => `[${id}]`);
  if (tokenizer === null)
    return { pieces: plain, piecesProblem: "no tokenizer is open: tokens are shown by their id" };
  const stranger = "recorded with another tokenizer than the open one: tokens are shown by their id";
  if (!ids.every((id) => tokenizer.hasToken(id))) return { pieces: plain, piecesProblem: stranger };
  const text = tokenizer.decode(ids, { skipSpecial: true });
  if (response !== null && text.trim() !== response.trim()) return { pieces: plain, piecesProblem: stranger };
  return { pieces: tokenizer.pieces(ids).map((piece) => piece.text), piecesProblem: null };
}
