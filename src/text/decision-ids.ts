/**
 * Token ids of an episode's decision: what was recorded, or else what the recorded texts encode to. A special token that
 * a recorded text spells out is text: only the chat template and the end of a response open and close turns.
 */
import { environmentRules } from "../core/environment/environment.ts";
import { type LimitedPrompt, limitPrompt } from "../core/environment/prompt-limit.ts";
import { InputError } from "../core/errors.ts";
import type { DecisionLocation } from "../core/loop/codec.ts";
import type { ChatTurn } from "../core/ports.ts";
import type { EpisodeDecision } from "../core/record/schema.ts";
import type { Tokenizer } from "./tokenizer.ts";

/** A key of a decision as messages name it: `episode "e-17", decisions[4].prompt_ids`. */
export function decisionKey(place: DecisionLocation, key: string): string {
  const episode = place.episode === undefined ? "" : `episode ${JSON.stringify(place.episode)}, `;
  const decision = place.decision === undefined ? "" : `decisions[${place.decision}].`;
  return `${episode}${decision}${key}`;
}

function inputError(message: string, place: DecisionLocation, key: string): InputError {
  return new InputError(message, { file: place.file, key: decisionKey(place, key) });
}

function recorded(
  ids: readonly number[],
  key: string,
  tokenizer: Tokenizer,
  place: DecisionLocation,
): number[] {
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
  place: DecisionLocation = {},
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
  place: DecisionLocation = {},
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

/** Id of the token that ends a turn. `InputError` when the tokenizer has none. */
export function requireEndOfTurn({ endOfTurnId, file }: Tokenizer): number {
  if (endOfTurnId === null)
    throw new InputError("has no <|im_end|> and no eos_token to end a turn with", { file });
  return endOfTurnId;
}

/** How a response that was recorded as text is read. */
export interface ResponseOptions {
  /** It ends with the end-of-turn token that a rollout samples. False gives the ids of earlier versions. */
  endOfTurn?: boolean;
  /** Whether it ended its turn, where that is known from ids that were left out: neither lengths nor limits tell it then. */
  ended?: boolean;
}

/**
 * Ids of the response y_t: `response_ids` as they are recorded, else the text with the end-of-turn id after it, since a
 * rollout samples that token and the released training scores it. The number of `rollout_logprobs` says whether it was
 * drawn. Without them, a text that fills the environment's response limit gets none: there was no room to draw one. A
 * response that was cut at a lower limit cannot be told from its text.
 *
 * @throws InputError naming the place when the decision carries neither, and when `rollout_logprobs` are of another length
 * than the text with or without the token
 */
export function decisionResponseIds(
  decision: Pick<EpisodeDecision, "response" | "response_ids" | "rollout_logprobs">,
  tokenizer: Tokenizer,
  environment: string,
  place: DecisionLocation = {},
  { endOfTurn = true, ended: known }: ResponseOptions = {},
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
  const text = tokenizer.encode(decision.response, { special: false });
  if (!endOfTurn || known === false) return text;
  if (known === true) return [...text, requireEndOfTurn(tokenizer)];
  const drawn = decision.rollout_logprobs?.length;
  if (drawn !== undefined && drawn !== text.length && drawn !== text.length + 1) {
    throw inputError(
      `${drawn} log-probabilities; expected ${text.length}, one for each token of the response's text, or ${text.length + 1} with the end-of-turn token`,
      place,
      "rollout_logprobs",
    );
  }
  const ended =
    drawn === undefined
      ? text.length < environmentRules(environment).limits.responseTokens
      : drawn > text.length;
  return ended ? [...text, requireEndOfTurn(tokenizer)] : text;
}
