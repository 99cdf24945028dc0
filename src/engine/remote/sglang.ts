/** SGLang's native `/generate`: token ids in and out. */
import { z } from "zod";
import { InputError } from "../../core/errors.ts";
import type { ScoreRequest, ScoreResult } from "../../core/ports.ts";
import { checkedBy } from "../../core/record/describe-issue.ts";
import { logitBias } from "./drawable.ts";
import type { Exchange } from "./exchange.ts";
import { checkedResult, checkedScore, finishReason, type Protocol } from "./protocol.ts";

const answerSchema = z.looseObject({
  meta_info: z.looseObject({
    finish_reason: z.looseObject({ type: finishReason, matched: z.unknown().optional() }),
    /** [tokens] log-probability, id and text. */
    output_token_logprobs: z.array(z.tuple([z.number(), z.int()], z.unknown())),
  }),
});

/**
 * Its log-probabilities are those after temperature and masks: only at temperature 1 and without a mask are they what
 * `SampleResult` has.
 *
 * Version 0.5.9 goes down when a prompt has an id outside the model's vocabulary: the tokenizer must be the model's.
 */
export const sglang: Protocol = {
  path: "/generate",
  body: ({ promptIds, maxTokens, temperature, topP = 1, topK = -1, seed, stopIds, masked }) => ({
    input_ids: promptIds,
    sampling_params: {
      max_new_tokens: maxTokens,
      temperature,
      top_p: topP,
      top_k: topK,
      min_p: 0,
      repetition_penalty: 1,
      sampling_seed: seed,
      stop_token_ids: stopIds,
      skip_special_tokens: false,
      ...logitBias(masked),
    },
    return_logprob: true,
  }),
  read: (answer, request) => {
    const { finish_reason, output_token_logprobs: drawn } = checkedBy(answerSchema, answer).meta_info;
    const plain = request.temperature === 1 && request.masked.length === 0;
    const response = {
      ids: drawn.map(([, id]) => id),
      logprobs: plain ? drawn.map(([logprob]) => logprob) : null,
      stop: finish_reason.type,
    };
    // The model's own end tokens end a response too, and cannot be switched off without the request's.
    const ends = typeof finish_reason.matched === "number" ? [finish_reason.matched] : [];
    const ended = { ...request, stopIds: [...request.stopIds, ...ends] };
    return checkedResult(ended, response, "meta_info.output_token_logprobs");
  },
};

const scoredSchema = z.looseObject({
  meta_info: z.looseObject({
    /** [response tokens + 1] log-probability (null at the start position), id and text. */
    input_token_logprobs: z.array(z.tuple([z.number().nullable(), z.int()], z.unknown())),
  }),
});

/**
 * Log-probabilities of a given response, at temperature 1. Its cache of prefixes is used up to the start position: contexts
 * that share their beginning are read once.
 */
export const sglangScoring: Exchange<ScoreRequest, ScoreResult> = {
  path: "/generate",
  body: ({ promptIds, responseIds }) => ({
    input_ids: [...promptIds, ...responseIds],
    sampling_params: { temperature: 1, max_new_tokens: 0 },
    return_logprob: true,
    // The entry at the start position is null: one earlier, so that the first token of the response has its own.
    logprob_start_len: promptIds.length - 1,
  }),
  read: (answer, { id, promptIds, responseIds }) => {
    const key = "meta_info.input_token_logprobs";
    const entries = checkedBy(scoredSchema, answer).meta_info.input_token_logprobs;
    const expected = [promptIds.at(-1)!, ...responseIds];
    if (entries.length !== expected.length)
      throw new InputError(`${entries.length} entries; expected ${expected.length}`, { key });
    const foreign = entries.findIndex(([, each], n) => each !== expected[n]);
    if (foreign !== -1)
      throw new InputError(`is of id ${entries[foreign]![1]}; ${expected[foreign]} was sent`, {
        key: `${key}[${foreign}]`,
      });
    const logprobs = entries.slice(1).map(([logprob]) => logprob ?? Number.NaN);
    return checkedScore(id, logprobs, (n) => `${key}[${n + 1}]`);
  },
};
