/** Reading other programs' JSON: whole small files, gzip or not, with faults named by file and key. */
import type { z } from "zod";
import { InputError } from "../../core/errors.ts";
import { parseJsonText } from "../../core/json.ts";
import { describeIssue, jsonType } from "../../core/record/describe-issue.ts";
import { shownBytes } from "../../core/shown-bytes.ts";
import { gunzip, isGzip } from "../gunzip.ts";
import { type ImportFiles, label } from "./files.ts";

async function concat(
  chunks: AsyncIterable<Uint8Array>,
  limit = Number.POSITIVE_INFINITY,
): Promise<Uint8Array> {
  const parts: Uint8Array[] = [];
  let size = 0;
  for await (const chunk of chunks) {
    parts.push(chunk);
    size += chunk.length;
    if (size >= limit) break;
  }
  const whole = new Uint8Array(size);
  let at = 0;
  for (const part of parts) {
    whole.set(part, at);
    at += part.length;
  }
  return size > limit ? whole.subarray(0, limit) : whole;
}

/**
 * Bytes of the largest file that is read whole, unpacked. Its text and its value come on top, which together stay near
 * what a page or a process of default size has. Formats of several records go up to any size as JSON Lines or Parquet.
 */
export const LARGEST_DOCUMENT = 256 * 2 ** 20;

async function* bounded(chunks: AsyncIterable<Uint8Array>, file: string): AsyncGenerator<Uint8Array> {
  let size = 0;
  for await (const chunk of chunks) {
    size += chunk.length;
    if (size > LARGEST_DOCUMENT)
      throw new InputError(
        `larger than ${shownBytes(LARGEST_DOCUMENT)}, the most that is read as one document; use JSON Lines`,
        { file },
      );
    yield chunk;
  }
}

/** All bytes of a stream. `InputError` names `file` where they are more than `LARGEST_DOCUMENT`. */
export function gather(chunks: AsyncIterable<Uint8Array>, file: string): Promise<Uint8Array> {
  return concat(bounded(chunks, file));
}

/** A listed file, whole, as stored. `InputError` above `LARGEST_DOCUMENT`. */
export function readBytes(files: ImportFiles, path: string): Promise<Uint8Array> {
  return gather(files.open(path), label(files, path));
}

/**
 * The first `limit` characters, about, of a listed file as text, decompressed if it is gzip. For detection: damaged
 * content gives what could be read of it, never an error.
 */
export async function headText(files: ImportFiles, path: string, limit = 1 << 16): Promise<string> {
  try {
    const head = await concat(files.open(path), limit);
    if (!isGzip(head)) return new TextDecoder().decode(head);
    let text = new Uint8Array(0);
    try {
      for await (const chunk of gunzip(one(head), path)) {
        text = (await concat(both(text, chunk), limit)) as Uint8Array<ArrayBuffer>;
        if (text.length >= limit) break;
      }
    } catch {
      // Cut at `limit`, or damaged: what came before is enough to tell the format.
    }
    return new TextDecoder().decode(text);
  } catch (error) {
    if (error instanceof InputError) return "";
    throw error;
  }
}

async function* one(chunk: Uint8Array): AsyncGenerator<Uint8Array> {
  yield chunk;
}

async function* both(first: Uint8Array, second: Uint8Array): AsyncGenerator<Uint8Array> {
  yield first;
  yield second;
}

/** Bytes as one JSON value, decompressed if gzip. `InputError` names `file`. */
export async function parseJson(bytes: Uint8Array, file: string): Promise<unknown> {
  const plain = isGzip(bytes) ? await gather(gunzip(one(bytes), file), file) : bytes;
  let text: string;
  try {
    text = new TextDecoder("utf-8", { fatal: true }).decode(plain);
  } catch {
    throw new InputError("not valid UTF-8", { file });
  }
  return parseJsonText(text, { file });
}

/** A value checked against the part of a foreign format that is read. `InputError` names file and key. */
export function checkForeign<T>(schema: z.ZodType<T>, value: unknown, file: string): T {
  if (typeof value !== "object" || value === null || Array.isArray(value)) {
    throw new InputError(`expected a JSON object, received ${jsonType(value)}`, { file });
  }
  const result = schema.safeParse(value);
  if (result.success) return value as T;
  const { key, message } = describeIssue(result.error.issues[0]!, value);
  throw new InputError(message, key === "" ? { file } : { file, key });
}

/** A listed file as a checked JSON object. */
export async function readForeign<T>(files: ImportFiles, path: string, schema: z.ZodType<T>): Promise<T> {
  const file = label(files, path);
  return checkForeign(schema, await parseJson(await readBytes(files, path), file), file);
}
