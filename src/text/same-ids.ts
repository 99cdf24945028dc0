/**
 * Ids that one tokenizer writes and the model of another one reads: the teacher scores the student's own response ids
 * (Eq. (8)), so each must mean the same bytes to both. Only ids matter here. Merges, normalization and the chat template
 * decide which ids a text gets, and one tokenizer encodes every text that both models read.
 */
import { InputError } from "../core/errors.ts";
import type { Tokenizer } from "./tokenizer.ts";

/** Ids that are named in a refusal. */
const NAMED = 3;

/** The writer's added tokens that the reader lacks or has as another token: ids that the reader's model must not get. */
export interface UnsharedIds {
  writer: Tokenizer;
  reader: Tokenizer;
  ids: ReadonlySet<number>;
}

/**
 * Compares what `writer` can write with what `reader` reads. An id of the writer's base vocabulary can come up in any
 * text, so it must mean the same bytes to the reader. An added token that only the writer has, as a release adds for
 * tools or images, may never come up: it is returned, and `checkShared` refuses it where it does. What only the reader has
 * is never written.
 *
 * @throws InputError naming the first ids that differ, when one of them is of the base vocabulary or ends a turn
 */
export function unsharedIds(reader: Tokenizer, writer: Tokenizer): UnsharedIds {
  const ids = new Set<number>();
  const differing: number[] = [];
  for (let id = 0; id < writer.vocabularySize; id += 1) {
    if (!writer.hasToken(id) || writer.means(id, reader)) continue;
    if (writer.isAdded(id) && id !== writer.endOfTurnId) ids.add(id);
    else differing.push(id);
  }
  if (differing.length > 0) {
    const more = differing.length - NAMED;
    const named = differing
      .slice(0, NAMED)
      .map((id) => `id ${id} is ${shownToken(reader, id)} here and ${shownToken(writer, id)} there`);
    throw new InputError(
      `not the token ids of ${writer.file}: ${named.join("; ")}${more > 0 ? `; and ${more} more` : ""}`,
      { file: reader.file },
    );
  }
  return { reader, writer, ids };
}

/** Refuses ids that the reader does not have as the writer's tokens; `key` says whose they are. */
export function checkShared(
  ids: readonly number[],
  { reader, writer, ids: unshared }: UnsharedIds,
  key?: string,
): void {
  const at = unshared.size === 0 ? -1 : ids.findIndex((id) => unshared.has(id));
  if (at < 0) return;
  const id = ids[at]!;
  throw new InputError(
    `id ${id} is ${shownToken(writer, id)} in ${writer.file} and ${shownToken(reader, id)} in ${reader.file}: a model of the latter cannot read it`,
    { key: key === undefined ? undefined : `${key}[${at}]` },
  );
}

/** What a person should know before both read the same ids, in one line; null where there is nothing to know. */
export function unsharedNote({ reader, writer, ids }: UnsharedIds): string | null {
  if (ids.size === 0) return null;
  const named = [...ids].slice(0, NAMED).map((id) => `${id} ${shownToken(writer, id)}`);
  const more = ids.size - NAMED;
  return `${reader.file} does not have ${ids.size} of the added tokens of ${writer.file} (${named.join(", ")}${more > 0 ? ` and ${more} more` : ""}): none is sampled, and text that holds one is refused.`;
}

function shownToken(tokenizer: Tokenizer, id: number): string {
  return tokenizer.hasToken(id) ? JSON.stringify(tokenizer.pieces([id])[0]!.text) : "no token";
}
