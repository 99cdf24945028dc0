/** Plain APIs of the OpenAI form, completions or chat: text in and out. */
import { z } from "zod";
import { InputError } from "../../core/errors.ts";
import type { TextCodec } from "../../core/loop/codec.ts";
import type { SampleRequest, SampleResult } from "../../core/ports.ts";
import { checkedBy } from "../../core/record/describe-issue.ts";
import { checkedResult, finishReason, type Protocol } from "./protocol.ts";

const answerSchema = z.looseObject({
  choices: z.array(z.looseObject({ finish_reason: finishReason, text: z.string() })).length(1),
});

const chatAnswerSchema = z.looseObject({
  choices: z
    .array(z.looseObject({ finish_reason: finishReason, message: z.looseObject({ content: z.string() }) }))
    .length(1),
});

const usageSchema = z.looseObject({ usage: z.looseObject({ prompt_tokens: z.int() }) });

/** What the text of a response is read with. */
export type ResponseCodec = Pick<TextCodec, "encode" | "decode" | "endOfTurnId">;

/** The prompt's text goes out with its chat template already in it. */
export function openai(model: string, codec: ResponseCodec): Protocol {
  return {
    path: "/v1/completions",
    body: (request) => ({ ...drawing(model, codec, request), prompt: codec.decode(request.promptIds) }),
    read: (answer, request) => {
      const { finish_reason, text } = checkedBy(answerSchema, answer).choices[0]!;
      return readText(codec, request, { stop: finish_reason, text }, "choices[0].text");
    },
    shortcoming,
  };
}

/**
 * The messages go out, and the server writes the prompt by its own chat template: what the model read is not known token
 * by token, only how many tokens that were, where the server counts them.
 */
export function openaiChat(model: string, codec: ResponseCodec): Protocol {
  return {
    path: "/v1/chat/completions",
    body: ({ messages, ...request }) => {
      if (messages === undefined)
        throw new InputError("the prompt was cut to its environment's limit, and a chat API takes none such");
      return { ...drawing(model, codec, request), messages };
    },
    read: (answer, request) => {
      const { finish_reason, message } = checkedBy(chatAnswerSchema, answer).choices[0]!;
      const text = message.content;
      return readText(codec, request, { stop: finish_reason, text }, "choices[0].message.content");
    },
    shortcoming,
    remark: (answer, { promptIds }) => {
      const counted = usageSchema.safeParse(answer).data?.usage.prompt_tokens;
      return counted === undefined || counted === promptIds.length
        ? null
        : "its prompts have another number of tokens than ours: its chat template or tokenizer is another";
    },
  };
}

function drawing(
  model: string,
  codec: ResponseCodec,
  { maxTokens, temperature, topP = 1, topK, seed }: SampleRequest,
): object {
  return {
    model,
    max_tokens: maxTokens,
    temperature,
    top_p: topP,
    // No key of the API, though many servers know it.
    ...(topK === undefined ? {} : { top_k: topK }),
    seed,
    stop: [codec.decode([codec.endOfTurnId])],
  };
}

/** A response as text: its ids are those that the text encodes to, and it has no log-probabilities. */
function readText(
  codec: ResponseCodec,
  request: SampleRequest,
  { stop, text }: { stop: "stop" | "length"; text: string },
  key: string,
): SampleResult {
  const endOfTurn = codec.decode([codec.endOfTurnId]);
  const ids = codec.encode(text.endsWith(endOfTurn) ? text.slice(0, -endOfTurn.length) : text);
  if (stop === "stop") ids.push(codec.endOfTurnId);
  // The server counted the tokens of its own tokenizer.
  const unlimited = { ...request, maxTokens: Number.POSITIVE_INFINITY };
  return checkedResult(unlimited, { ids, logprobs: null, stop }, key);
}

const shortcoming = ({ topK }: SampleRequest): string | null =>
  topK === undefined
    ? null
    : `its API has no top_k; it may ignore the limit of ${topK} ${topK === 1 ? "token" : "tokens"}`;
