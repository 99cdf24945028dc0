import type { LimitedPrompt } from "../environment/prompt-limit.ts";
import type { ChatTurn, IdRange } from "../ports.ts";

/** The location of a decision, for messages such as `episode "e-17", decisions[4].prompt: missing`. */
export interface DecisionLocation {
  file?: string;
  episode?: string;
  decision?: number;
}

/** Text to ids and back, as the loop needs it: tokenizer and chat template behind one small port. */
export interface TextCodec {
  /** Ids of recorded text: no token added, and special tokens that it spells out are text, never their ids. */
  encode(text: string): number[];
  decode(ids: readonly number[]): string;
  /** Id that ends a chat turn (`<|im_end|>`): evidence goes in before its last occurrence, and sampling stops there. */
  readonly endOfTurnId: number;
  /** Ids that a response may be drawn from, as ascending ranges. */
  readonly drawable: readonly IdRange[];
  /**
   * h_t within its environment's limit, from the exact ids that the student saw: `prompt_ids` where recorded, else the
   * chat template over `prompt`, after the turns of `earlier`, with the generation prompt. Throws `InputError` naming the place when the decision
   * carries neither, or has more tokens than an environment that cuts nothing allows.
   */
  prompt(
    decision: { prompt?: string; prompt_ids?: number[]; earlier?: readonly ChatTurn[] },
    environment: string,
    place: DecisionLocation,
  ): LimitedPrompt;
  /** Whether responses that were recorded as text end with `endOfTurnId`, as those of a rollout do. */
  readonly endOfTurn: boolean;
  /**
   * The exact ids of y_t: `response_ids` where recorded, else `response` as it stands, with the end-of-turn id after it
   * where `endOfTurn` asks for it and one can have been drawn. Throws `InputError` naming the place when the decision
   * carries neither, or `rollout_logprobs` of another length.
   */
  responseIds(
    decision: { response?: string; response_ids?: number[]; rollout_logprobs?: number[] },
    environment: string,
    place: DecisionLocation,
  ): number[];
}
