/** Brings the files of a hub model into a store, going on where an earlier download ended, and checks each. */
import { InputError } from "../../core/errors.ts";
import type { WorkOptions } from "../../core/ports.ts";
import {
  type HubFile,
  type HubName,
  type HubOptions,
  HubUnavailable,
  hubText,
  openHubFile,
} from "./hub-client.ts";

/** Where files of one commit are kept: on disk, or in a browser's own file system. */
export interface HubStore {
  /** True when the file is there whole and checked. */
  has(file: HubFile): Promise<boolean>;
  /** Bytes of an unfinished download. */
  partial(file: HubFile): Promise<number>;
  /** Appends to the unfinished download, which has `at` bytes so far; what lies beyond is dropped. */
  append(file: HubFile, at: number, chunks: AsyncIterable<Uint8Array>): Promise<void>;
  /** SHA-256 of the unfinished download, in hexadecimal. */
  digest(file: HubFile): Promise<string>;
  /** The unfinished download is the file from now on. */
  finish(file: HubFile): Promise<void>;
  discard(file: HubFile): Promise<void>;
}

/** Connections in a row that bring nothing before a download is given up. */
const ATTEMPTS = 5;

export interface DownloadOptions extends HubOptions, Pick<WorkOptions, "onProgress"> {
  /** Milliseconds before the second attempt; twice as long before each further one. */
  pause?: number;
  /** What is done with which file, where it changes. */
  onFile?: (file: HubFile, what: "downloading" | "checking") => void;
}

/**
 * Downloads what is missing. A connection that breaks is taken up again where it broke; what an aborted or failed
 * download brought stays for the next one.
 *
 * @throws InputError when the hub cannot be reached, or a file is not what the hub announces
 */
export async function downloadFiles(
  name: HubName,
  commit: string,
  files: readonly HubFile[],
  store: HubStore,
  options: DownloadOptions,
): Promise<void> {
  const total = files.reduce((sum, { size }) => sum + size, 0);
  let before = 0;
  for (const file of files) {
    options.signal?.throwIfAborted();
    if (!(await store.has(file)))
      await downloadFile(name, commit, file, store, options, (done) =>
        options.onProgress?.({ done: before + done, total, unit: "bytes" }),
      );
    before += file.size;
    options.onProgress?.({ done: before, total, unit: "bytes" });
  }
}

async function downloadFile(
  name: HubName,
  commit: string,
  file: HubFile,
  store: HubStore,
  options: DownloadOptions,
  onBytes: (done: number) => void,
): Promise<void> {
  const { signal, pause = 1000 } = options;
  const where = `${hubText(name)}/${file.name}`;
  options.onFile?.(file, "downloading");
  let at = await store.partial(file);
  if (at > file.size) {
    await store.discard(file);
    at = 0;
  }
  let failures = 0;
  while (at < file.size || (file.size === 0 && failures === 0)) {
    const began = at;
    let reason = "the connection ended early";
    try {
      const { from, body } = await openHubFile(name, commit, file.name, at, options);
      let to = from;
      const arrived = (bytes: number) => {
        to += bytes;
        onBytes(to);
      };
      await store.append(file, from, counted(body, arrived, file.size - from, where));
    } catch (error) {
      signal?.throwIfAborted();
      const again =
        !(error instanceof InputError) ||
        (error instanceof HubUnavailable && (error.status === 429 || error.status >= 500));
      if (!again) throw error;
      reason = error instanceof Error ? error.message : String(error);
    }
    at = await store.partial(file);
    if (file.size === 0) break;
    if (at < file.size) {
      failures = at > began ? 0 : failures + 1;
      if (failures >= ATTEMPTS)
        throw new InputError(
          `the download stopped at ${at} of ${file.size} bytes: ${reason}; run it again to go on`,
          {
            file: where,
          },
        );
      if (failures > 0) await wait(pause * 2 ** (failures - 1), signal);
    }
  }
  if (file.sha256 !== null) {
    options.onFile?.(file, "checking");
    const found = await store.digest(file);
    if (found !== file.sha256) {
      await store.discard(file);
      throw new InputError(
        `the SHA-256 of what was downloaded is ${found}, the hub announces ${file.sha256}; it was thrown away`,
        { file: where },
      );
    }
  }
  await store.finish(file);
}

/** The chunks of a body, counted; more than announced is an InputError. */
async function* counted(
  body: ReadableStream<Uint8Array>,
  count: (bytes: number) => void,
  left: number,
  where: string,
): AsyncGenerator<Uint8Array> {
  const reader = body.getReader();
  let rest = left;
  try {
    for (;;) {
      const { done, value } = await reader.read();
      if (done) return;
      rest -= value.length;
      if (rest < 0) throw new InputError("more bytes came than the hub announces", { file: where });
      yield value;
      count(value.length);
    }
  } finally {
    await reader.cancel().catch(() => {});
  }
}

function wait(milliseconds: number, signal?: AbortSignal): Promise<void> {
  return new Promise((resolve, reject) => {
    const timer = setTimeout(resolve, milliseconds);
    signal?.addEventListener("abort", () => {
      clearTimeout(timer);
      reject(signal.reason);
    });
  });
}
