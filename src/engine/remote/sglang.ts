/** SGLang's native `/generate`: token ids in and out. */
import { z } from "zod";
import { checkedResult, finishReason, type Protocol, readAnswer } from "./protocol.ts";

const answerSchema = z.looseObject({
  meta_info: z.looseObject({
    finish_reason: z.looseObject({ type: finishReason, matched: z.unknown() }),
    /** [tokens] log-probability, id and text. */
    output_token_logprobs: z.array(z.tuple([z.number(), z.int()], z.unknown())),
  }),
});

/**
 * Its log-probabilities are those after temperature: only at temperature 1 are they what `SampleResult` has.
 *
 * Version 0.5.9 goes down when a prompt has an id outside the model's vocabulary: the tokenizer must be the model's.
 */
export const sglang: Protocol = {
  path: "/generate",
  body: ({ promptIds, maxTokens, temperature, topP = 1, topK = -1, seed, stopIds }) => ({
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
    },
    return_logprob: true,
  }),
  read: (answer, request) => {
    const { finish_reason, output_token_logprobs: drawn } = readAnswer(answerSchema, answer).meta_info;
    const response = {
      ids: drawn.map(([, id]) => id),
      logprobs: request.temperature === 1 ? drawn.map(([logprob]) => logprob) : null,
      stop: finish_reason.type,
    };
    // The model's own end tokens end a response too, and cannot be switched off without the request's.
    const ends = typeof finish_reason.matched === "number" ? [finish_reason.matched] : [];
    const ended = { ...request, stopIds: [...request.stopIds, ...ends] };
    return checkedResult(ended, response, "meta_info.output_token_logprobs");
  },
};
