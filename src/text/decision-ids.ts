/**
 * Token ids of an episode's decision: what was recorded, or else what the recorded texts encode to. A special token that
 * a recorded text spells out is text: only the chat template opens and closes turns.
 */
import type { ChatTurn } from "../core/environment/prompt/chat.ts";
import { type LimitedPrompt, limitPrompt } from "../core/environment/prompt-limit.ts";
import { InputError } from "../core/errors.ts";
import type { EpisodeDecision } from "../core/record/schema.ts";
import type { Tokenizer } from "./tokenizer.ts";

/** Shown in messages, for example `episode "e-17", decisions[4]`. */
export interface DecisionPlace {
  file?: string;
  episode?: string;
  decision?: number;
}

/** A key of a decision as messages name it: `episode "e-17", decisions[4].prompt_ids`. */
export function decisionKey(place: DecisionPlace, key: string): string {
  const episode = place.episode === undefined ? "" : `episode ${JSON.stringify(place.episode)}, `;
  const decision = place.decision === undefined ? "" : `decisions[${place.decision}].`;
  return `${episode}${decision}${key}`;
}

function inputError(message: string, place: DecisionPlace, key: string): InputError {
  return new InputError(message, { file: place.file, key: decisionKey(place, key) });
}

function recorded(ids: readonly number[], key: string, tokenizer: Tokenizer, place: DecisionPlace): number[] {
  const unknown = ids.findIndex((id) => !tokenizer.hasToken(id));
  if (unknown !== -1) {
    throw inputError(
      `id ${ids[unknown]} is not one of the tokenizer's ${tokenizer.vocabularySize}: was it recorded with another one?`,
      place,
      `${key}[${unknown}]`,
    );
  }
  return [...ids];
}

/** h_t within the limit of its environment: `decisionPromptIds`, cut or refused as `limitPrompt` says. */
export function decisionPrompt(
  decision: Pick<EpisodeDecision, "prompt" | "prompt_ids">,
  tokenizer: Tokenizer,
  environment: string,
  place: DecisionPlace = {},
): LimitedPrompt {
  const ids = decisionPromptIds(decision, tokenizer, place);
  return limitPrompt(ids, environment, { file: place.file, key: decisionKey(place, "prompt") });
}

/**
 * Ids of the student's prompt h_t: `prompt_ids` if recorded, else the chat template over the user message, after
 * earlier turns where there are any, with the opening of the assistant's turn and without native thinking (Appendix
 * "Prompt and parser adaptations").
 */
export function decisionPromptIds(
  decision: Pick<EpisodeDecision, "prompt" | "prompt_ids"> & { earlier?: readonly ChatTurn[] },
  tokenizer: Tokenizer,
  place: DecisionPlace = {},
): number[] {
  if (decision.prompt_ids !== undefined) return recorded(decision.prompt_ids, "prompt_ids", tokenizer, place);
  if (decision.prompt === undefined) {
    throw inputError("missing; expected `prompt` or `prompt_ids` to score this decision", place, "prompt");
  }
  return tokenizer.chatIds([...(decision.earlier ?? []), { role: "user", content: decision.prompt }], {
    addGenerationPrompt: true,
    enableThinking: false,
  });
}

/**
 * Ids of the response y_t: `response_ids` if recorded, else the response text as it stands, with no end token added. A
 * response that ended with an end-of-turn token keeps it only in `response_ids`.
 */
export function decisionResponseIds(
  decision: Pick<EpisodeDecision, "response" | "response_ids">,
  tokenizer: Tokenizer,
  place: DecisionPlace = {},
): number[] {
  if (decision.response_ids !== undefined)
    return recorded(decision.response_ids, "response_ids", tokenizer, place);
  if (decision.response === undefined) {
    throw inputError(
      "missing; expected `response` or `response_ids` to score this decision",
      place,
      "response",
    );
  }
  return tokenizer.encode(decision.response, { special: false });
}
