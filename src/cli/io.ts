/** Files for the commands: byte streams in, atomic writes out, `-` for the standard streams. */
import { createReadStream, type ReadStream, unlinkSync } from "node:fs";
import { access, constants, open, readFile, realpath, stat } from "node:fs/promises";
import { dirname } from "node:path";
import { addAbortSignal } from "node:stream";
import { InputError } from "../core/errors.ts";
import { utf8Text } from "../core/folder-text.ts";
import { plainLine, plainText } from "../core/plain-text.ts";
import { gzip, recordLine } from "../formats/write.ts";
import { fileError, onFile, unlessPassing } from "../node/file-error.ts";
import { temporaryName, writeAll, writeWhole } from "../node/whole-file.ts";

/** `-` and, for `--out`, nothing at all stand for the standard streams. */
const STANDARD = "-";
const STANDARD_OUTPUT = "standard output";

/** How a path is called in messages. */
export function fileLabel(path: string): string {
  return path === STANDARD ? "standard input" : path;
}

/**
 * Bytes of a file, or of standard input for `-`, until a signal ends the reading. `InputError` when there is no such file,
 * or it is a folder.
 */
export async function* openBytes(path: string, signal?: AbortSignal): AsyncGenerator<Uint8Array> {
  const stream: ReadStream | NodeJS.ReadStream =
    path === STANDARD ? process.stdin : createReadStream(path, { highWaterMark: 1 << 18 });
  if (signal !== undefined) addAbortSignal(signal, stream);
  try {
    yield* stream as AsyncIterable<Uint8Array>;
  } catch (error) {
    throw fileError(error, path, "read");
  } finally {
    if (path !== STANDARD) stream.destroy();
  }
}

/** A whole small text file (a config, a tokenizer). `InputError` when it is not there or not UTF-8. */
export async function readText(path: string): Promise<string> {
  return utf8Text(await onFile(path, "read", readFile(path)), path);
}

/** Temporary files of writes under way: removed when the process is told to stop. */
const underWay = new Set<string>();
const SIGNALS = ["SIGINT", "SIGTERM", "SIGHUP"] as const;

function removeUnderWay(signal: NodeJS.Signals): void {
  for (const path of underWay) {
    try {
      unlinkSync(path);
    } catch {
      // Already renamed or gone.
    }
  }
  for (const name of SIGNALS) process.removeListener(name, removeUnderWay);
  // Whoever else listens has heard it.
  if (process.listenerCount(signal) === 0) process.kill(process.pid, signal);
}

function guard(path: string): () => void {
  if (underWay.size === 0) for (const signal of SIGNALS) process.on(signal, removeUnderWay);
  underWay.add(path);
  return () => {
    underWay.delete(path);
    if (underWay.size === 0) for (const signal of SIGNALS) process.removeListener(signal, removeUnderWay);
  };
}

type Chunks = Iterable<string | Uint8Array> | AsyncIterable<string | Uint8Array>;

async function* encoded(
  chunks: Chunks,
  spell = (text: string) => text,
): AsyncGenerator<Uint8Array<ArrayBuffer>> {
  const encoder = new TextEncoder();
  for await (const chunk of chunks) {
    yield typeof chunk === "string" ? encoder.encode(spell(chunk)) : (chunk as Uint8Array<ArrayBuffer>);
  }
}

/** How many writes of `writeStandardOutput` are under way: they tell of their own faults. */
let ownFaults = 0;
let watched = false;
/** Whether the user knows that standard output takes nothing more. */
let told = false;

/**
 * Faults of the standard streams that no write under way tells of. A reader that goes away (`| head`) ends the output,
 * not the work; any other fault of standard output is one line, and exit code 1.
 */
export function watchStandardStreams(): void {
  if (watched) return;
  watched = true;
  process.stderr.on("error", () => undefined);
  process.stdout.on("error", (error: NodeJS.ErrnoException) => {
    if (error.code === "EPIPE" || ownFaults > 0 || told) return;
    told = true;
    const fault = fileError(error, STANDARD_OUTPUT, "write");
    progress(`gcopd: ${fault instanceof Error ? fault.message : String(fault)}`);
    process.exitCode = 1;
  });
}

/** Clears the terminal's line, and goes to its beginning. */
const CLEARED = "\r\u001b[2K";
/** Whether the cursor is behind a passing line. */
let isPassing = false;

/** Takes a passing line off the terminal. */
export function endPassing(): void {
  if (isPassing) process.stderr.write(CLEARED);
  isPassing = false;
}

/** Prints a line on standard output; what a terminal would obey is spelled out. */
export function printLine(text = ""): void {
  endPassing();
  process.stdout.write(`${plainText(text)}\n`);
}

/** A reader that goes away (`| head`) ends the writing quietly; any other fault of standard output is an error. */
async function writeStandardOutput(chunks: AsyncIterable<Uint8Array>): Promise<void> {
  endPassing();
  ownFaults++;
  let failure: NodeJS.ErrnoException | undefined;
  let wake: (() => void) | undefined;
  const onError = (error: NodeJS.ErrnoException) => {
    failure = error;
    wake?.();
  };
  const onDrain = () => wake?.();
  process.stdout.on("error", onError);
  process.stdout.on("drain", onDrain);
  try {
    for await (const chunk of chunks) {
      if (failure !== undefined) break;
      const written = new Promise<void>((resolve) => {
        wake = resolve;
      });
      if (!process.stdout.write(chunk)) await written;
    }
    // The callback of an empty write comes after everything before it was handed over, or failed.
    if (failure === undefined)
      await new Promise<void>((resolve) => process.stdout.write("", () => resolve()));
  } finally {
    ownFaults--;
    process.stdout.removeListener("drain", onDrain);
    if (failure === undefined) process.stdout.removeListener("error", onError);
  }
  if (failure === undefined || failure.code === "EPIPE") return;
  told = true;
  throw fileError(failure, STANDARD_OUTPUT, "write");
}

/** The path that a write lands on: through symbolic links; `special` for devices and pipes, which are written directly. */
async function resolveTarget(path: string): Promise<{ target: string; special: boolean }> {
  try {
    const target = await realpath(path);
    const info = await stat(target);
    if (info.isDirectory()) throw new InputError("is a folder; expected a file to write", { file: path });
    return { target, special: !info.isFile() };
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === "ENOENT") return { target: path, special: false };
    throw error;
  }
}

/** Whether an output is no file that could be replaced: a standard stream, a device or a pipe. */
export async function isStream(path: string | undefined): Promise<boolean> {
  if (path === undefined || path === STANDARD) return true;
  return (await onFile(path, "write", resolveTarget(path))).special;
}

/**
 * Refuses an output that `writeOut` could not begin, for work whose preparation takes long, and one that would take the
 * place of an input.
 *
 * @throws InputError when the path is a folder or one of the inputs, or its folder is missing, is none, or may not be
 *   written to
 */
export async function checkOut(path: string | undefined, ...inputs: (string | undefined)[]): Promise<void> {
  if (path === undefined || path === STANDARD) return;
  const { target, special } = await onFile(path, "write", resolveTarget(path));
  for (const input of special ? [] : inputs)
    if (
      input !== undefined &&
      input !== STANDARD &&
      (await onFile(input, "read", resolveTarget(input).catch(unlessPassing)))?.target === target
    )
      throw new InputError("is an input of this command; expected another file to write", { file: path });
  // With the dot, a file in place of the folder is refused too.
  if (!special) await onFile(path, "write", access(`${dirname(target)}/.`, constants.W_OK));
}

/**
 * Writes chunks to a file, or to standard output when the path is absent or `-`. The file appears under its name only
 * when all is written (temporary name beside it, then rename); after an error nothing is left behind and what stood
 * there before stays. A name that ends in `.gz` is compressed.
 */
export async function writeOut(path: string | undefined, chunks: Chunks): Promise<void> {
  if (path === undefined || path === STANDARD) {
    // A terminal would obey what records hold; programs and files get it as it is.
    await writeStandardOutput(process.stdout.isTTY ? encoded(chunks, plainText) : encoded(chunks));
    return;
  }
  const bytes = path.endsWith(".gz") ? gzip(encoded(chunks)) : encoded(chunks);
  const { target, special } = await onFile(path, "write", resolveTarget(path));
  if (special) {
    const handle = await onFile(path, "write", open(target, "w"));
    try {
      // An error of the chunks' own making must stay what it is: only file operations are reworded.
      for await (const chunk of bytes) await onFile(path, "write", writeAll(handle, chunk));
    } finally {
      await onFile(path, "write", handle.close());
    }
    return;
  }
  const temporary = temporaryName(target);
  const release = guard(temporary);
  try {
    await writeWhole(target, bytes, { temporary, name: path });
  } finally {
    release();
  }
}

/** Writes records as JSON Lines; see `writeOut`. */
export async function writeRecordsOut(
  path: string | undefined,
  records: Iterable<object> | AsyncIterable<object>,
): Promise<void> {
  async function* lines(): AsyncGenerator<string> {
    let batch = "";
    for await (const record of records) {
      batch += recordLine(record);
      if (batch.length >= 1 << 16) {
        yield batch;
        batch = "";
      }
    }
    if (batch !== "") yield batch;
  }
  await writeOut(path, lines());
}

/** One line of progress on standard error; what a terminal would obey is spelled out. */
export function progress(text: string): void {
  endPassing();
  process.stderr.write(`${plainText(text)}\n`);
}

/** The same, but on a terminal the next line takes its place. It is cut there: a line that wraps cannot be taken back. */
export function passingProgress(text: string): void {
  const { isTTY, columns } = process.stderr;
  if (isTTY) process.stderr.write(CLEARED + plainLine(text).slice(0, (columns || 80) - 1));
  else progress(text);
  isPassing = isTTY;
}
