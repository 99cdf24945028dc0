/** vLLM's completions: the OpenAI API with token ids in and out. */
import { z } from "zod";
import { InputError } from "../../core/errors.ts";
import type { ScoreRequest, ScoreResult } from "../../core/ports.ts";
import { checkedBy } from "../../core/record/describe-issue.ts";
import { logitBias } from "./drawable.ts";
import type { Exchange } from "./exchange.ts";
import { checkedResult, checkedScore, finishReason, type Protocol } from "./protocol.ts";

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

/** Its log-probabilities are those before temperature, bounds and masks, as `SampleResult` has them. */
export const vllm = (model: string): Protocol => ({
  path: "/v1/completions",
  body: ({ promptIds, maxTokens, temperature, topP = 1, topK = -1, seed, stopIds, masked }) => ({
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
    ...logitBias(masked),
  }),
  read: (answer, request) => {
    const { finish_reason, token_ids, logprobs } = checkedBy(answerSchema, answer).choices[0]!;
    const response = { ids: token_ids, logprobs: logprobs.token_logprobs, stop: finish_reason };
    return checkedResult(request, response, "choices[0].token_ids");
  },
});

const scoredSchema = z.looseObject({
  choices: z
    .array(
      z.looseObject({
        /** [prompt and response tokens] what is told of each by its id; null for the first. */
        prompt_logprobs: z.array(z.record(z.string(), z.looseObject({ logprob: z.number() })).nullable()),
      }),
    )
    .length(1),
});

/**
 * Log-probabilities of a given response, at temperature 1: the response goes out as the end of a prompt. All positions of
 * the prompt come back, 78 bytes each, and its cache of prefixes is not used.
 */
export const vllmScoring = (model: string): Exchange<ScoreRequest, ScoreResult> => ({
  path: "/v1/completions",
  body: ({ promptIds, responseIds }) => ({
    model,
    prompt: [...promptIds, ...responseIds],
    // It draws one token at least.
    max_tokens: 1,
    temperature: 1,
    prompt_logprobs: 0,
    add_special_tokens: false,
  }),
  read: (answer, { id, promptIds, responseIds }) => {
    const key = "choices[0].prompt_logprobs";
    const entries = checkedBy(scoredSchema, answer).choices[0]!.prompt_logprobs;
    const sent = [...promptIds, ...responseIds];
    if (entries.length !== sent.length)
      throw new InputError(`${entries.length} entries for ${sent.length} tokens`, { key });
    const logprobs = sent.map((each, n) => (n === 0 ? 0 : entries[n]?.[each]?.logprob));
    const foreign = logprobs.indexOf(undefined);
    if (foreign !== -1)
      throw new InputError(`has nothing of id ${sent[foreign]}, which was sent`, {
        key: `${key}[${foreign}]`,
      });
    const ofResponse = logprobs.slice(promptIds.length).map((each) => each ?? Number.NaN);
    return checkedScore(id, ofResponse, (n) => `${key}[${promptIds.length + n}]`);
  },
});
