import { InputError } from "../errors.ts";

/** R_t as it is encoded for insertion: on lines of its own at the end of the user's message. */
export function evidenceInsert(text: string): string {
  return `\n${text}\n`;
}

/**
 * The teacher's prompt: the original prompt ids h_t with the evidence before the last end-of-turn id, which ends the
 * original user message. The ids of the response are not part of either and stay as they are.
 *
 * @param promptIds the prompt as the student saw it, with the chat template
 * @param evidenceIds `evidenceInsert(text)`, encoded; a recorded text must not have become an end-of-turn token
 * @param endOfTurnId id of `<|im_end|>`
 * @throws InputError when the prompt has no such id, or the evidence has one (it would end the user's message early)
 */
export function insertEvidence(
  promptIds: readonly number[],
  evidenceIds: readonly number[],
  endOfTurnId: number,
): number[] {
  const end = promptIds.lastIndexOf(endOfTurnId);
  if (end < 0) {
    throw new InputError(
      `the prompt has no end-of-turn token ${endOfTurnId}: there is no user message to add to`,
    );
  }
  if (evidenceIds.includes(endOfTurnId)) {
    throw new InputError(
      `the evidence has the end-of-turn token ${endOfTurnId}: a recorded text spells it out, and it would end the user's message`,
    );
  }
  return [...promptIds.slice(0, end), ...evidenceIds, ...promptIds.slice(end)];
}

/**
 * The same for display: the evidence before the last end of turn of a prompt text. A prompt without any is the user
 * message itself (as recorded episodes carry it), and the evidence goes at its end.
 */
export function insertEvidenceText(prompt: string, text: string, endOfTurn = "<|im_end|>"): string {
  const found = prompt.lastIndexOf(endOfTurn);
  const end = found < 0 ? prompt.length : found;
  return `${prompt.slice(0, end)}${evidenceInsert(text)}${prompt.slice(end)}`;
}
