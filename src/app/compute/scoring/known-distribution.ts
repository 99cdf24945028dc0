/** What a pass tells of each token beside its log-probability: its rank, the most probable tokens in its place, the entropy. */

import type { EngineInfo } from "../../../core/ports.ts";
import { libraryWorker } from "../../data/library-client.ts";
import { type Distribution, rankOf, type SideModel, tokenPlace } from "../side.ts";
import type { Wanted } from "../worker/compute-service.ts";
import type { PassResult } from "./scoring-run.ts";

/** How many of the most probable tokens are kept in each place: ranks are known up to here. */
export const TOP = 64;

/** So many of them are listed beside each other: of these, each side tells its exact probability. */
export const LISTED = 5;

/** What a pass tells beside log-probabilities; nothing where the engine (an export to ONNX) cannot tell. */
export function wantedOf(engine: EngineInfo | undefined): Wanted {
  if (engine?.architecture === undefined) return {};
  return { topK: Math.min(TOP, engine.vocabulary), entropy: true, hidden: true };
}

/** The distributions of a pass, with the texts of their tokens; null where it told none. */
export async function distributionOf(
  { logprobs, entropy, topIds, topLogprobs }: PassResult,
  model: SideModel,
): Promise<Distribution | null> {
  if (entropy === undefined || topIds === undefined || topLogprobs === undefined) return null;
  const ids = [...new Set(topIds)];
  const texts = await libraryWorker().tokenTexts(ids, model);
  return {
    entropy,
    top: topIds.length / logprobs.length,
    topIds,
    topLogprobs,
    texts: new Map(ids.map((id, i) => [id, texts[i]!])),
  };
}

/** Tokens that any side lists in a place and `of` does not know there. */
export function unknownListed(
  of: Distribution,
  all: readonly Distribution[],
): { position: number; id: number }[] {
  const missing: { position: number; id: number }[] = [];
  for (let position = 0; position < of.entropy.length; position++) {
    const listed = new Set(
      all.flatMap(({ top, topIds }) => [
        ...topIds.subarray(position * top, position * top + Math.min(LISTED, top)),
      ]),
    );
    for (const id of listed) if (rankOf(of, position, id) === null) missing.push({ position, id });
  }
  return missing;
}

/** Tokens of one call: their rows are copied for it. */
const AT_ONCE = 256;

/**
 * What one side lists and another does not have among its most probable tokens, from what the pass told as `hidden`.
 *
 * @param ask `headLogprobs` of the side's model
 * @param vocabulary ids of that model: another side's may have more, and those it never writes
 */
export async function furtherLogprobs(
  of: Distribution,
  all: readonly Distribution[],
  hidden: Float32Array,
  ask: (hidden: Float32Array, ids: number[]) => Promise<Float32Array>,
  vocabulary: number,
): Promise<Map<string, number>> {
  const missing = unknownListed(of, all).filter(({ id }) => id < vocabulary);
  const width = hidden.length / of.entropy.length;
  const further = new Map<string, number>();
  for (let from = 0; from < missing.length; from += AT_ONCE) {
    const some = missing.slice(from, from + AT_ONCE);
    const rows = new Float32Array(some.length * width);
    for (const [i, { position }] of some.entries())
      rows.set(hidden.subarray(position * width, (position + 1) * width), i * width);
    const logprobs = await ask(
      rows,
      some.map(({ id }) => id),
    );
    for (const [i, { position, id }] of some.entries()) further.set(tokenPlace(position, id), logprobs[i]!);
  }
  return further;
}
