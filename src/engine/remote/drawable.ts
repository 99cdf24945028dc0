/** Responses of ids that have a token, from servers whose models have more ids than their tokenizers. */
import { InputError } from "../../core/errors.ts";
import type { SampleRequest, SampleResult } from "../../core/ports.ts";

export interface MaskedRequest extends SampleRequest {
  /** Ids of the model that must not be drawn. A server may have no way to leave them out. */
  masked: readonly number[];
}

/**
 * Ids without a token that one response may meet. The rows that only fill up a vocabulary are drawn once in a long while;
 * those of another tokenizer all the time.
 */
const MOST = 64;

/**
 * A response of drawable ids. Where the server draws another id, the rest is drawn again from there on: the next
 * token then has the distribution that a mask would give it, even where the server has no masks. Servers with masks are
 * also sent the ids met so far; an id that the model may not have could be refused.
 *
 * @param server for messages
 * @param draw asks it once
 * @throws InputError when such ids come again and again
 */
export async function drawnAgain(
  request: SampleRequest,
  server: string,
  draw: (request: MaskedRequest) => Promise<SampleResult>,
): Promise<SampleResult> {
  const { drawable, promptIds, maxTokens, seed, temperature } = request;
  const [ids, logprobs]: [number[], number[]] = [[], []];
  const masked = new Set<number>();
  for (let times = 0; ; times += 1) {
    const drawn = await draw({
      ...request,
      promptIds: [...promptIds, ...ids],
      maxTokens: maxTokens - ids.length,
      seed: seed + times,
      masked: [...masked],
    });
    const foreign = drawn.responseIds.find((id) => !drawable.some(([from, to]) => id >= from && id < to));
    const end = foreign === undefined ? drawn.responseIds.length : drawn.responseIds.indexOf(foreign);
    ids.push(...drawn.responseIds.slice(0, end));
    logprobs.push(...drawn.logprobs.subarray(0, end));
    if (foreign === undefined) return { ...drawn, responseIds: ids, logprobs: Float32Array.from(logprobs) };
    const greedy = temperature === 0 && masked.has(foreign);
    if (greedy || times === MOST)
      throw new InputError(
        `${server} draws id ${foreign}, which has no token in the tokenizer, and cannot be kept from such ids: ` +
          (greedy ? "take a temperature above 0" : "name the tokenizer of the server's model"),
      );
    masked.add(foreign);
  }
}

/** Makes vLLM and SGLang leave ids out: e^100 times less probable, none is ever drawn. vLLM accepts no lower bias. */
export const logitBias = (masked: readonly number[]): { logit_bias?: Record<number, number> } =>
  masked.length === 0 ? {} : { logit_bias: Object.fromEntries(masked.map((id) => [id, -100])) };
