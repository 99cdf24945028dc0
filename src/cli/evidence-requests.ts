/** The two contexts of one decision as scoring records, for `gcopd score`. */
import { checkTeacherContext, evidenceInsert, insertEvidence } from "../core/evidence/index.ts";
import type { Episode, ScoreInput } from "../core/record/schema.ts";
import { type ResponseOptions, type Tokenizer, textCodec } from "../text/index.ts";

/**
 * The student's response after its own prompt h_t (`EPISODE/T/vanilla`) and after the prompt with the evidence R_t
 * (`EPISODE/T/evidence`): what the page scores, and a teacher in a terminal can score again.
 *
 * @param decision its place in the episode, from 0
 * @param text R_t as it is rendered; empty where nothing is left of it: both prompts are then the same
 * @param endOfTurn whether a response recorded as text ends with the end-of-turn token
 * @param limit most tokens of prompt and evidence; the environment's own when absent
 * @throws InputError where the decision has no prompt or no response, the prompt no end of turn or too many tokens, or
 * prompt, evidence and response together do not fit
 */
export function evidenceRequests(
  record: Episode,
  decision: number,
  text: string,
  {
    tokenizer,
    file,
    limit,
    endOfTurn,
  }: ResponseOptions & { tokenizer: Tokenizer; file: string; limit?: number },
): ScoreInput[] {
  const { episode, environment, decisions } = record;
  const codec = textCodec(tokenizer, { endOfTurn });
  const place = { file, episode, decision };
  const recorded = decisions[decision]!;
  const { ids: vanilla } = codec.prompt(recorded, environment, place);
  const response_ids = codec.responseIds(recorded, environment, place);
  const ids = text === "" ? [] : codec.encode(evidenceInsert(text));
  const evidence = ids.length === 0 ? vanilla : insertEvidence(vanilla, ids, codec.endOfTurnId);
  if (ids.length > 0)
    checkTeacherContext({ episode: record, decision }, evidence.length, response_ids.length, limit);
  return [
    { id: `${episode}/${decision}/vanilla`, prompt_ids: [...vanilla], response_ids: [...response_ids] },
    { id: `${episode}/${decision}/evidence`, prompt_ids: [...evidence], response_ids: [...response_ids] },
  ];
}
