/** A file behind an address: by range requests where the server answers them, else downloaded whole. */
import { InputError } from "../../../../core/errors.ts";
import { byteChunks } from "../../../../formats/bytes.ts";
import type { RangedReader } from "../../../../formats/ranged-reader.ts";
import { sameOrigin } from "../../../base/address.ts";

/** What stands behind an address. */
export type HttpFile =
  | { ranges: true; reader: RangedReader }
  /** The server sends whole files only: why, and all bytes. They can be read once. */
  | { ranges: false; reason: string; size: number | null; bytes: AsyncIterable<Uint8Array> };

export interface HttpOptions {
  signal?: AbortSignal;
  /** For tests. */
  fetch?: typeof fetch;
}

/** The last part of an address, as a file is called in messages. */
export function addressName(address: string): string {
  const url = new URL(address);
  const last = url.pathname.split("/").filter(Boolean).at(-1);
  return last === undefined ? url.host : decoded(last);
}

function decoded(text: string): string {
  try {
    return decodeURIComponent(text);
  } catch {
    return text;
  }
}

/** An address beside another: its path with a suffix, the query kept. */
export function addressWith(address: string, suffix: string): string {
  const url = new URL(address);
  url.pathname += suffix;
  return url.href;
}

async function request(address: string, range: string | null, options: HttpOptions): Promise<Response> {
  const name = addressName(address);
  try {
    return await (options.fetch ?? fetch)(address, {
      ...(range === null ? {} : { headers: { Range: range } }),
      ...(options.signal === undefined ? {} : { signal: options.signal }),
    });
  } catch (error) {
    if (error instanceof Error && error.name === "AbortError") throw error;
    throw new InputError(
      sameOrigin(new URL(address))
        ? "could not be fetched: is the workbench's server still running?"
        : `could not be fetched from ${new URL(address).origin}: it is not reachable, does not let other sites' pages read it (CORS), or this page may not ask it (start it with \`gcopd worker --connect ${new URL(address).origin}\`)`,
      { file: name },
    );
  }
}

/** `bytes 0-1/587400123` */
function rangeOf(response: Response): { start: number; end: number; size: number } | null {
  const found = /^bytes (\d+)-(\d+)\/(\d+)$/.exec(response.headers.get("Content-Range") ?? "");
  if (found === null) return null;
  return { start: Number(found[1]), end: Number(found[2]) + 1, size: Number(found[3]) };
}

/** Distinguishes one state of a resource from the next, as far as the server lets a page see it. */
function validators(response: Response): string {
  return JSON.stringify([response.headers.get("ETag"), response.headers.get("Last-Modified")]);
}

/** The file at an address. `InputError` when it cannot be fetched. */
export async function openAddress(address: string, options: HttpOptions = {}): Promise<HttpFile> {
  const name = addressName(address);
  const first = await request(address, "bytes=0-1", options);
  if (first.status === 416) {
    await first.body?.cancel();
    return whole(address, await request(address, null, options), "the server refuses the first range");
  }
  if (!first.ok) {
    await first.body?.cancel();
    throw new InputError(`the server answered ${first.status}`, { file: name });
  }
  if (first.status !== 206) return whole(address, first, "the server does not answer range requests");
  const range = rangeOf(first);
  await first.body?.cancel();
  if (range === null || range.start !== 0) {
    const response = await request(address, null, options);
    return whole(address, response, "the server does not tell a page the size of the file");
  }
  return { ranges: true, reader: rangedAddress(address, range.size, validators(first), options) };
}

function whole(address: string, response: Response, reason: string): HttpFile {
  const name = addressName(address);
  if (!response.ok) throw new InputError(`the server answered ${response.status}`, { file: name });
  if (response.body === null) throw new InputError("the server sent nothing", { file: name });
  const length = Number(response.headers.get("Content-Length") ?? Number.NaN);
  // The length of compressed content is not that of the file.
  const size = Number.isFinite(length) && !response.headers.has("Content-Encoding") ? length : null;
  return { ranges: false, reason, size, bytes: received(response.body, name) };
}

async function* received(body: ReadableStream<Uint8Array>, name: string): AsyncGenerator<Uint8Array> {
  try {
    yield* byteChunks(body);
  } catch (error) {
    if (error instanceof Error && error.name === "AbortError") throw error;
    throw new InputError("the download broke off", { file: name });
  }
}

function rangedAddress(address: string, size: number, state: string, options: HttpOptions): RangedReader {
  const name = addressName(address);
  const changed = () => new InputError("has changed on the server: open it again", { file: name });
  return {
    name,
    size,
    // A server's time has another grain than a file's, and is that of another machine: size and samples decide.
    modified: null,
    async read(start, end) {
      if (start === end) return new Uint8Array(0);
      const response = await request(address, `bytes=${start}-${end - 1}`, options);
      const range = rangeOf(response);
      if (response.status !== 206 || range === null) {
        await response.body?.cancel();
        if (response.status === 416) throw changed();
        throw new InputError(`the server answered ${response.status} to a range request`, { file: name });
      }
      if (
        range.size !== size ||
        range.start !== start ||
        range.end !== end ||
        validators(response) !== state
      ) {
        await response.body?.cancel();
        throw changed();
      }
      try {
        return new Uint8Array(await response.arrayBuffer());
      } catch (error) {
        if (error instanceof Error && error.name === "AbortError") throw error;
        throw new InputError("the download broke off", { file: name });
      }
    },
  };
}

/** The text beside an address, or null where the server has none. Never an error: nothing depends on it. */
export async function bytesBeside(address: string, options: HttpOptions = {}): Promise<Uint8Array | null> {
  try {
    const response = await (options.fetch ?? fetch)(
      address,
      options.signal ? { signal: options.signal } : {},
    );
    if (!response.ok) {
      await response.body?.cancel();
      return null;
    }
    return new Uint8Array(await response.arrayBuffer());
  } catch (error) {
    if (error instanceof Error && error.name === "AbortError") throw error;
    return null;
  }
}
