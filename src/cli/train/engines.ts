/** Engines beside a training job: servers that it starts, waits for, and takes down at its end, whatever ends it. */
import { type ChildProcess, spawn } from "node:child_process";
import { once } from "node:events";
import { join } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import { InputError } from "../../core/errors.ts";
import type { TrainConfig } from "../../core/loop/index.ts";
import { AppendFile } from "../../node/append-file.ts";
import { makeFolder } from "../../node/whole-file.ts";
import type { TrainingRun } from "./training-run.ts";

/** Milliseconds between two questions whether an engine is ready, and for one of them. */
const PAUSE = 500;
const ANSWER = 10_000;

/** Characters of an engine's output that are kept for a message. */
const TAIL = 2_000;

/** Milliseconds in which the last lines of an engine that has ended are waited for. */
const LAST_WORDS = 2_000;

/**
 * Runs a command line in the process group of this shell, and ends the group once its standard input closes: when it is
 * told to, and when the process that started it is gone, even by SIGKILL. SIGKILL follows after ten seconds.
 * `wait` comes before `kill -0`, which fails for a command that has already ended: its exit code would be lost. It is in
 * a loop because a trapped signal interrupts it.
 */
const GUARD = `trap : TERM
exec 3<&0
( trap '' TERM; cat <&3; kill -s TERM -- -$$; sleep 10; kill -s KILL -- -$$ ) > /dev/null 2>&1 &
sh -c "$1" < /dev/null 3<&- &
engine=$!
while wait "$engine"; code=$?; kill -0 "$engine" 2> /dev/null; do :; done
exit "$code"`;

interface Engine {
  name: string;
  /** File of what it prints. */
  log: string;
  /** The end of what it printed. */
  tail: string;
  process: ChildProcess;
  /** Resolves when it and all that it started have ended. */
  gone: Promise<unknown>;
}

/**
 * Starts the engines of a run, waits until all are ready, and does its work. None is left at the end, whatever the end.
 * What they print goes into `engines/NAME.log` of the run's folder.
 *
 * @param work is given a signal that also aborts when an engine ends by itself
 * @throws InputError when one ends by itself, or is not ready in time
 */
export async function withEngines<R>(
  engines: NonNullable<TrainConfig["engines"]>,
  { out, onNote, signal: given }: Pick<TrainingRun, "out" | "onNote" | "signal">,
  work: (signal: AbortSignal) => Promise<R>,
): Promise<R> {
  const failed = new AbortController();
  const signal = given === undefined ? failed.signal : AbortSignal.any([given, failed.signal]);
  const started: Engine[] = [];
  let stopping = false;
  try {
    for (const [name, { command, ready: url }] of Object.entries(engines)) {
      if ((await answer(url, signal)) !== null)
        throw new InputError(`engine ${name}: something else answers at ${url} already: choose another port`);
      onNote(`Starting engine ${name}, and waiting until it is ready: ${command}`);
      const engine = await launch(name, command, join(out, "engines"), (error) => failed.abort(error));
      started.push(engine);
      engine.process.once("exit", async (code, ended) => {
        await Promise.race([engine.gone, sleep(LAST_WORDS)]);
        if (!stopping)
          failed.abort(
            new InputError(`engine ${name} ended (${ended ?? `exit code ${code}`}): ${saidLast(engine)}`),
          );
      });
    }
    await Promise.all(
      started.map(async (engine) => {
        const seconds = await ready(engine, engines[engine.name]!, signal);
        onNote(`Engine ${engine.name} is ready after ${seconds} s.`);
      }),
    );
    return await work(signal);
  } catch (error) {
    throw failed.signal.aborted ? failed.signal.reason : error;
  } finally {
    stopping = true;
    await Promise.all(started.map(end));
  }
}

async function launch(
  name: string,
  command: string,
  folder: string,
  onFault: (error: unknown) => void,
): Promise<Engine> {
  await makeFolder(folder);
  const log = join(folder, `${name}.log`);
  const file = new AppendFile(log);
  // A group of its own: a signal to this process's group leaves the engines to `end`.
  const process = spawn("sh", ["-c", GUARD, "sh", command], { detached: true });
  const gone = once(process, "close").finally(() => file.close());
  // Nobody awaits the end of an engine that cannot be started: the error below reports it.
  gone.catch(() => undefined);
  const engine = { name, log, tail: "", process, gone };
  for (const stream of [process.stdout, process.stderr])
    stream.setEncoding("utf8").on("data", (text: string) => {
      engine.tail = (engine.tail + text).slice(-TAIL);
      try {
        file.append(text);
      } catch (error) {
        onFault(error);
      }
    });
  process.stdin.on("error", () => undefined);
  await once(process, "spawn").catch(({ message }: Error) => {
    throw new InputError(`engine ${name} cannot be started: ${message}`);
  });
  return engine;
}

/** @returns whole seconds that it took */
async function ready(
  engine: Engine,
  { ready: url, minutes }: { ready: string; minutes: number },
  signal: AbortSignal,
): Promise<number> {
  const began = performance.now();
  let last = "no answer";
  for (;;) {
    const status = await answer(url, signal);
    const seconds = (performance.now() - began) / 1000;
    if (status === 200) return Math.round(seconds);
    if (status !== null) last = `status ${status}`;
    if (seconds > minutes * 60)
      throw new InputError(
        `engine ${engine.name} was not ready after ${minutes} min (${url}: ${last}): ${saidLast(engine)}`,
      );
    await sleep(PAUSE, undefined, { signal });
  }
}

/** The status with which a URL answers; null where nothing does. */
async function answer(url: string, signal: AbortSignal): Promise<number | null> {
  try {
    const { status, body } = await fetch(url, {
      signal: AbortSignal.any([signal, AbortSignal.timeout(ANSWER)]),
    });
    await body?.cancel();
    return status;
  } catch {
    signal.throwIfAborted();
    return null;
  }
}

const saidLast = ({ tail, log }: Engine): string =>
  `${tail.trimEnd().split("\n").at(-1) || "it printed nothing"}; see ${log}`;

async function end({ process: shell, gone }: Engine): Promise<void> {
  shell.stdin?.destroy();
  await gone;
  try {
    // The guard itself.
    if (shell.pid !== undefined) process.kill(-shell.pid, "SIGKILL");
  } catch {
    // It is gone, too.
  }
}
