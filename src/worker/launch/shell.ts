/** A shell on the machine where a run's folder is: this one, or another over ssh. */
import { type ChildProcessWithoutNullStreams, spawn } from "node:child_process";
import { createReadStream } from "node:fs";
import type { Readable, Writable } from "node:stream";
import { pipeline } from "node:stream/promises";
import { InputError } from "../../core/errors.ts";
import { countOf } from "../../core/plural.ts";
import { fileError } from "../../node/file-error.ts";

/** Stands before what is meant for us: a login may print text of its own. */
export const MARK = "gcopd-answer";

/** The target did not answer: nothing is known of what runs there. */
export class Unreachable extends InputError {}

export interface Answer {
  code: number;
  out: Uint8Array;
  err: string;
}

export interface Streams {
  /**
   * Standard input: a text, the file of this path, or nothing, open until the signal, which ends the program. With a file
   * and `until`, it stays open after the file until the signal: a program elsewhere whose connection is killed here learns
   * of it from the end of its input.
   */
  input?:
    | { text: string }
    | { file: string; until?: AbortSignal }
    | { until: AbortSignal }
    | { stream: Readable };
  /** Takes standard output as it comes; else it is in the answer. */
  into?: Writable;
  /** Milliseconds until the program here is killed, and the place to name then. What it started may go on, here or there. */
  limit?: { ms: number; place: string };
}

export interface Shell {
  /** Name of the machine, for messages. */
  readonly place: string;
  /** Runs a program there. @throws Unreachable when the machine does not answer */
  exec(args: readonly string[], streams?: Streams): Promise<Answer>;
}

/** A script that takes longer is taken to hang: on a stalled file system, or on a device that does not answer. */
const PATIENCE_MS = 5 * 60_000;

/** `sh -s`: runs a short script with arguments. @throws Unreachable also when it takes longer than five minutes */
export function script(shell: Shell, text: string, ...args: string[]): Promise<Answer> {
  const limit = { ms: PATIENCE_MS, place: shell.place };
  return shell.exec(["sh", "-s", "--", ...args], { input: { text }, limit });
}

export const thisMachine: Shell = {
  place: "this machine",
  async exec([program = "sh", ...args], streams) {
    return collect(program, args, streams);
  },
};

/** One word of a shell's command line. */
export function quoted(word: string): string {
  return `'${word.replaceAll("'", "'\\''")}'`;
}

/** Runs a program of this machine to its end. @throws Unreachable at its limit */
export async function collect(
  program: string,
  args: readonly string[],
  { input, into, limit }: Streams = {},
): Promise<Answer> {
  // The token of the worker's API is nothing for other programs.
  const { GCOPD_TOKEN: _token, ...env } = process.env;
  const child = spawn(program, args, { stdio: ["pipe", "pipe", "pipe"], env });
  const out: Uint8Array[] = [];
  let err = "";
  child.stderr.setEncoding("utf8").on("data", (text: string) => {
    err += text;
  });
  const ended = new Promise<number>((resolve, reject) => {
    child.once("error", (error) => reject(new InputError(`${program} cannot be started: ${error.message}`)));
    child.once("close", (code, signal) => resolve(code ?? (signal === null ? 1 : 255)));
  });
  // A program that ends early reads no further; its code says why.
  child.stdin.on("error", () => undefined);
  const sent = send(input, child);
  if (into === undefined) child.stdout.on("data", (bytes: Uint8Array) => out.push(bytes));
  else child.stdout.pipe(into);
  // Heard of once the program is over: nothing of it is left running.
  sent.catch(() => undefined);
  const late = limit === undefined ? null : lateness(limit);
  try {
    const code = await Promise.race([ended, ...(late === null ? [] : [late.over])]);
    await sent;
    return { code, out: Buffer.concat(out), err: err.trim() };
  } catch (error) {
    child.kill("SIGKILL");
    // Processes that it started may live on and hold its pipes open.
    for (const stream of child.stdio) stream?.destroy();
    throw error;
  } finally {
    late?.forget();
  }
}

function lateness({ ms, place }: { ms: number; place: string }) {
  let timer: NodeJS.Timeout | undefined;
  const over = new Promise<never>((_, reject) => {
    const text = `${place}: no answer within ${countOf(Math.round(ms / 60_000), "minute")}: the command is still running there, or hangs`;
    timer = setTimeout(() => reject(new Unreachable(text)), ms);
  });
  return { over, forget: () => clearTimeout(timer) };
}

async function send(input: Streams["input"], child: ChildProcessWithoutNullStreams): Promise<void> {
  if (input === undefined || "text" in input) child.stdin.end(input?.text ?? "");
  else if ("file" in input) {
    const { file, until } = input;
    const end = () => child.stdin.end();
    try {
      const options = { end: false, ...(until && { signal: until }) };
      await pipeline(bytesOf(file), child.stdin, options).catch(unlessClosed);
    } catch (error) {
      end();
      if (!until?.aborted) throw error;
    }
    if (until === undefined || until.aborted) end();
    else until.addEventListener("abort", end, { once: true });
  } else if ("stream" in input) await pipeline(input.stream, child.stdin).catch(unlessClosed);
  else if (input.until.aborted) child.kill();
  else input.until.addEventListener("abort", () => child.kill(), { once: true });
}

/** The bytes of a file that is sent. A fault of its closing, after the last of them, takes nothing from what was sent. */
export async function* bytesOf(path: string): AsyncGenerator<Uint8Array> {
  const file = createReadStream(path);
  try {
    yield* file as AsyncIterable<Uint8Array>;
  } catch (error) {
    if (!file.readableEnded) throw fileError(error, path, "read");
  }
}

function unlessClosed(error: NodeJS.ErrnoException): void {
  if (!["EPIPE", "ECONNRESET", "ERR_STREAM_PREMATURE_CLOSE"].includes(error.code ?? "")) throw error;
}
