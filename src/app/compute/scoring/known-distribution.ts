/** What a pass returns beside log-probabilities: a token's rank, the most probable tokens in its place, the entropy. */

import type { EngineInfo } from "../../../core/ports.ts";
import { libraryWorker } from "../../data/library-client.ts";
import { type Distribution, type Rows, rankOf, type SideModel, tokenKey } from "../side.ts";
import type { Wanted } from "../worker/compute-service.ts";
import type { PassResult } from "./scoring-run.ts";

/** How many of the most probable tokens are kept in each place: ranks are known up to here. */
export const TOP = 64;

/** How many of them are listed beside each other, with the exact probability under each side. */
export const LISTED = 5;

/** Tokens of a vocabulary whose size is not known. */
const LARGE_VOCABULARY = 2 ** 18;

/** Bytes of whole distributions that a pass may hand to the page. */
const MOST_WHOLE = 2 ** 26;

/**
 * What a pass over so many response tokens returns beside log-probabilities. An export to ONNX has no hidden states to
 * return; it returns whole distributions instead, for short responses only.
 */
export function wantedOf(
  { architecture, vocabulary }: Pick<EngineInfo, "architecture" | "vocabulary">,
  responseTokens: number,
): Wanted {
  // An export may not say how large its vocabulary is.
  const isSmall = 4 * (vocabulary || LARGE_VOCABULARY) * responseTokens <= MOST_WHOLE;
  const hidden = architecture !== undefined || isSmall;
  return { topK: vocabulary === 0 ? TOP : Math.min(TOP, vocabulary), entropy: true, hidden };
}

const MOST_ROW_BYTES = 2 ** 28;

/**
 * The last used first: one list for the page, since one limit holds for all sides of all libraries. Rows live as long as
 * a side has them, which undo or another library may hold.
 */
let kept: WeakRef<Rows>[] = [];

/**
 * Marks rows as just used. Where all of them take more than `most` bytes, those used longest ago give way. They are about
 * 1 MB per response under a model of our own engine, and whole distributions (4 bytes per token and row of the
 * vocabulary) under an export to ONNX. Once a side's rows are gone, tokens that it does not know stay bounded by the last
 * one that it does.
 */
export function usedRows(rows: Rows, most = MOST_ROW_BYTES): Rows {
  const others = kept.flatMap((each) => each.deref() ?? []).filter((each) => each !== rows && each.hidden);
  let bytes = rows.hidden?.byteLength ?? 0;
  for (const each of others) {
    bytes += each.hidden!.byteLength;
    if (bytes > most) each.hidden = null;
  }
  kept = [rows, ...others].map((each) => new WeakRef(each));
  return rows;
}

/** The distributions of a pass, with the texts of their tokens; null where it returned none. */
export async function distributionOf(
  { logprobs, entropy, topIds, topLogprobs, hidden }: PassResult,
  model: SideModel,
): Promise<Distribution | null> {
  if (entropy === undefined || topIds === undefined || topLogprobs === undefined) return null;
  const ids = [...new Set(topIds)];
  const texts = await libraryWorker().tasks.tokenTexts(ids, model);
  return {
    entropy,
    top: topIds.length / logprobs.length,
    topIds,
    topLogprobs,
    texts: new Map(ids.map((id, i) => [id, texts[i]!])),
    ...(hidden === undefined ? {} : { rows: usedRows({ hidden }) }),
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
    for (const id of listed)
      if (rankOf(of, position, id) === null && !of.further?.has(tokenKey(position, id)))
        missing.push({ position, id });
  }
  return missing;
}

/** Tokens of one call, and numbers in their rows, which are copied for it. */
const AT_ONCE = 256;
const NUMBERS_AT_ONCE = 2 ** 22;

/** `headLogprobs` of a model: [ids] log-probabilities, each under a row of `hidden`. */
export type AskHead = (hidden: Float32Array, ids: number[]) => Promise<Float32Array>;

/** Log-probabilities of single tokens in their places, from the `hidden` that the pass returned. */
export async function furtherLogprobs(
  of: Distribution,
  missing: readonly { position: number; id: number }[],
  hidden: Float32Array,
  ask: AskHead,
): Promise<Map<string, number>> {
  const width = hidden.length / of.entropy.length;
  const rowsAtOnce = Math.max(1, Math.min(AT_ONCE, Math.floor(NUMBERS_AT_ONCE / width)));
  const further = new Map<string, number>();
  for (let from = 0; from < missing.length; from += rowsAtOnce) {
    const some = missing.slice(from, from + rowsAtOnce);
    const rows = new Float32Array(some.length * width);
    for (const [i, { position }] of some.entries())
      rows.set(hidden.subarray(position * width, (position + 1) * width), i * width);
    const logprobs = await ask(
      rows,
      some.map(({ id }) => id),
    );
    for (const [i, { position, id }] of some.entries()) further.set(tokenKey(position, id), logprobs[i]!);
  }
  return further;
}
