/** A file worker: parts of files, one after the other, read or as their SHA-256. */
import { sha256Bytes } from "../../../../core/seeded.ts";
import { isOriginFile, readBlob } from "../origin-files.ts";

/** Bytes [start, end) of a file, which the worker reads itself. */
interface FileRange {
  file: Blob;
  start: number;
  end: number;
}

/** A range to read or to digest, or bytes to digest that are transferred to the worker. */
export type FileAsk = (FileRange & { wanted: "bytes" | "digest" }) | { bytes: Uint8Array<ArrayBuffer> };

export interface FileAnswer {
  /** Null where it was not asked for, or the part cannot be read or digested: whoever asked finds out why. */
  sha256: string | null;
  /** What was asked for, fewer at the file's end, or the bytes that were transferred, on their way back. */
  bytes: Uint8Array<ArrayBuffer> | null;
}

/** Ranges of the origin's files are read into it to be digested. */
let buffer = new Uint8Array(0);

async function sha256Of({ file, start, end }: FileRange): Promise<string | null> {
  const isOrigin = isOriginFile(file);
  if (isOrigin && buffer.length < end - start) buffer = new Uint8Array(end - start);
  const bytes = await readBlob(file, start, end, isOrigin ? buffer.subarray(0, end - start) : undefined);
  return bytes.length === end - start ? sha256Bytes(bytes) : null;
}

async function answerTo(ask: FileAsk): Promise<FileAnswer> {
  if ("bytes" in ask) {
    const { bytes } = ask;
    return { sha256: await sha256Bytes(bytes).catch(() => null), bytes };
  }
  const { file, start, end, wanted } = ask;
  if (wanted === "digest") return { sha256: await sha256Of(ask).catch(() => null), bytes: null };
  return { sha256: null, bytes: await readBlob(file, start, end).catch(() => null) };
}

addEventListener("message", async ({ data }: MessageEvent<FileAsk>) => {
  const answer = await answerTo(data);
  postMessage(answer, { transfer: answer.bytes === null ? [] : [answer.bytes.buffer] });
});
