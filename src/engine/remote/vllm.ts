/** vLLM's completions: the OpenAI API with token ids in and out. */
import { z } from "zod";
import { checkedResult, finishReason, type Protocol, readAnswer } from "./protocol.ts";

const answerSchema = z.looseObject({
  choices: z
    .array(
      z.looseObject({
        finish_reason: finishReason,
        token_ids: z.array(z.int()),
        logprobs: z.looseObject({ token_logprobs: z.array(z.number()) }),
      }),
    )
    .length(1),
});

/** Its log-probabilities are those before temperature and bounds, as `SampleResult` has them. */
export const vllm = (model: string): Protocol => ({
  path: "/v1/completions",
  body: ({ promptIds, maxTokens, temperature, topP = 1, topK = -1, seed, stopIds }) => ({
    model,
    prompt: promptIds,
    max_tokens: maxTokens,
    // All of them: what is left out comes from the model's generation_config.json.
    temperature,
    top_p: topP,
    top_k: topK,
    min_p: 0,
    repetition_penalty: 1,
    seed,
    stop_token_ids: stopIds,
    // Only these ids end a response, as everywhere here.
    ignore_eos: true,
    logprobs: 0,
    return_token_ids: true,
    add_special_tokens: false,
    skip_special_tokens: false,
  }),
  read: (answer, request) => {
    const { finish_reason, token_ids, logprobs } = readAnswer(answerSchema, answer).choices[0]!;
    const response = { ids: token_ids, logprobs: logprobs.token_logprobs, stop: finish_reason };
    return checkedResult(request, response, "choices[0].token_ids");
  },
});
