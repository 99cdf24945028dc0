/** A plain completions API of the OpenAI form: text in and out. */
import { z } from "zod";
import type { TextCodec } from "../../core/loop/codec.ts";
import { checkedResult, finishReason, type Protocol, readAnswer } from "./protocol.ts";

const answerSchema = z.looseObject({
  choices: z.array(z.looseObject({ finish_reason: finishReason, text: z.string() })).length(1),
});

/** What the text of a response is read with. */
export type ResponseCodec = Pick<TextCodec, "encode" | "decode" | "endOfTurnId">;

/**
 * The prompt's text goes out with its chat template already in it; the ids of a response are those that its text encodes
 * to, and it has no log-probabilities.
 */
export function openai(model: string, codec: ResponseCodec): Protocol {
  const endOfTurn = codec.decode([codec.endOfTurnId]);
  return {
    path: "/v1/completions",
    body: ({ promptIds, maxTokens, temperature, topP = 1, topK, seed }) => ({
      model,
      prompt: codec.decode(promptIds),
      max_tokens: maxTokens,
      temperature,
      top_p: topP,
      // No key of the API, though many servers know it.
      ...(topK === undefined ? {} : { top_k: topK }),
      seed,
      stop: [endOfTurn],
    }),
    read: (answer, request) => {
      const { finish_reason: stop, text } = readAnswer(answerSchema, answer).choices[0]!;
      const response = text.endsWith(endOfTurn) ? text.slice(0, -endOfTurn.length) : text;
      const ids = codec.encode(response);
      if (stop === "stop") ids.push(codec.endOfTurnId);
      // The server counted the tokens of its own tokenizer.
      const unlimited = { ...request, maxTokens: Number.POSITIVE_INFINITY };
      return checkedResult(unlimited, { ids, logprobs: null, stop }, "choices[0].text");
    },
    shortcoming: ({ topK }) =>
      topK === undefined
        ? null
        : `its API has no top_k; it may ignore the limit of ${topK} ${topK === 1 ? "token" : "tokens"}`,
  };
}
