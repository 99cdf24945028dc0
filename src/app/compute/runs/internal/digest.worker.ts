/** A digest worker: SHA-256 of one part of a file after the other. */
import { sha256Bytes } from "../../../../core/seeded.ts";
import { readBlob } from "../../../data/files/origin-files.ts";

/** Bytes [start, end) of a file, which the worker reads itself, or bytes that were transferred to it. */
export type DigestAsk = { file: Blob; start: number; end: number } | { bytes: Uint8Array<ArrayBuffer> };

export interface DigestAnswer {
  /** Null where the part cannot be read or digested: whoever asked finds out why. */
  sha256: string | null;
  /** The bytes that were transferred, on their way back. */
  bytes: Uint8Array<ArrayBuffer> | null;
}

/** Ranges are read into it. */
let buffer = new Uint8Array(0);

async function sha256Of(ask: DigestAsk): Promise<string | null> {
  if ("bytes" in ask) return sha256Bytes(ask.bytes);
  const { file, start, end } = ask;
  if (buffer.length < end - start) buffer = new Uint8Array(end - start);
  const bytes = await readBlob(file, start, end, buffer.subarray(0, end - start));
  return bytes.length === end - start ? sha256Bytes(bytes) : null;
}

addEventListener("message", async ({ data }: MessageEvent<DigestAsk>) => {
  const sha256 = await sha256Of(data).catch(() => null);
  const bytes = "bytes" in data ? data.bytes : null;
  postMessage({ sha256, bytes } satisfies DigestAnswer, { transfer: bytes === null ? [] : [bytes.buffer] });
});
