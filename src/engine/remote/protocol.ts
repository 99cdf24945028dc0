import { z } from "zod";
import { InputError } from "../../core/errors.ts";
import type { SampleRequest, SampleResult, ScoreResult } from "../../core/ports.ts";
import type { MaskedRequest } from "./drawable.ts";
import type { Exchange } from "./exchange.ts";

/** How one kind of server is asked for a response, and how its answer is read. */
export interface Protocol extends Exchange<MaskedRequest, SampleResult> {
  /** What it cannot do of what a request asks for; null where it can do all. */
  shortcoming?(request: SampleRequest): string | null;
  /** What an answer tells of how the request was read; null where that is as it was meant. */
  remark?(answer: unknown, request: SampleRequest): string | null;
}

/** Why a response ended, as the OpenAI API says it. */
export const finishReason = z.enum(["stop", "length"]);

/**
 * A response with its ids checked: one that stopped ends with one of the ids that end it, and none is longer than was
 * asked.
 *
 * @param logprobs [ids]; null where the server does not tell those at temperature 1
 * @throws InputError naming `key`
 */
export function checkedResult(
  { id, stopIds, maxTokens }: SampleRequest,
  { ids, logprobs, stop }: { ids: number[]; logprobs: readonly number[] | null; stop: "stop" | "length" },
  key: string,
): SampleResult {
  const fault = (message: string) => new InputError(message, { key });
  if (ids.length === 0 || ids.length > maxTokens)
    throw fault(
      `${ids.length} tokens; expected ${Number.isFinite(maxTokens) ? `1 to ${maxTokens}` : "at least 1"}`,
    );
  if (stop === "stop" && !stopIds.includes(ids.at(-1)!))
    throw fault(`a response that stopped ends with id ${ids.at(-1)}; expected ${stopIds.join(" or ")}`);
  if (logprobs !== null && logprobs.length !== ids.length)
    throw fault(`${ids.length} ids with ${logprobs.length} log-probabilities`);
  return {
    id,
    responseIds: ids,
    logprobs: logprobs === null ? new Float32Array(ids.length).fill(Number.NaN) : Float32Array.from(logprobs),
    stop,
  };
}

/** What vLLM writes for a probability of 0. */
const NO_PROBABILITY = -9999;
/** A probability of 1 may come out a little above. */
const ABOVE = 1e-3;

/**
 * A score with its log-probabilities checked: a NaN of a kernel must not become an advantage.
 *
 * @param keyOf where the nth of them stands in the answer
 * @throws InputError naming that place
 */
export function checkedScore(
  id: string,
  logprobs: readonly number[],
  keyOf: (n: number) => string,
): ScoreResult {
  const bad = logprobs.findIndex((each) => !(each > NO_PROBABILITY && each <= ABOVE));
  if (bad !== -1)
    throw new InputError(`expected a log-probability, received ${logprobs[bad]}`, { key: keyOf(bad) });
  return { id, logprobs: Float32Array.from(logprobs) };
}
