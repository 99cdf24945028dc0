/** A real inference server on a loopback port, started by a command of its own installation. */
import { spawn } from "node:child_process";
import { mkdirSync, openSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import { InputError } from "../../src/core/errors.ts";
import { Server } from "../../src/engine/remote/index.ts";
import { freePort } from "./real-sshd.ts";

/** Longest sequence of a server that serves a fixture model. */
export const MOST_TOKENS = 2048;

export interface RealEngine {
  url: string;
  /** Ends it with all of its processes. */
  close(): Promise<void>;
}

/**
 * @param folder gets its log, and the files that it writes
 * @throws InputError with the end of its log when it ends before it answers
 */
export async function startEngine(
  [program, ...args]: readonly [string, ...string[]],
  { port, folder, environment }: { port: number; folder: string; environment: Record<string, string> },
): Promise<RealEngine> {
  mkdirSync(folder, { recursive: true });
  const log = join(folder, "server.log");
  const output = openSync(log, "w");
  const child = spawn(program, args, {
    cwd: folder,
    env: { ...process.env, ...environment },
    stdio: ["ignore", output, output],
    // A group of its own: its workers are in it.
    detached: true,
  });
  const ended = new Promise<void>((resolve) => {
    child.once("close", () => resolve());
    child.once("error", () => resolve());
  });
  const url = `http://127.0.0.1:${port}`;
  const close = async (): Promise<void> => {
    try {
      if (child.pid !== undefined) process.kill(-child.pid, "SIGKILL");
    } catch {
      // Gone already.
    }
    await ended;
  };
  const server = new Server(url, { pausesMs: [] });
  for (;;) {
    if (child.exitCode !== null || child.pid === undefined) {
      await close();
      throw new InputError(`${program} ended before it answered: ${readFileSync(log, "utf8").slice(-600)}`);
    }
    const answer = await server.ask("/v1/models", undefined).catch((error: unknown) => {
      if (error instanceof InputError) return null;
      throw error;
    });
    if (answer?.status === 200) return { url, close };
    await sleep(500);
  }
}

/**
 * A vLLM built for CPUs, which serves a model in f32 as `teacher`. Its attention needs heads of 32 at least.
 *
 * @param program VENV/bin/vllm
 */
export async function startVllm(
  program: string,
  model: string,
  folder: string,
  port?: number,
): Promise<RealEngine> {
  port ??= await freePort();
  return await startEngine(
    [
      program,
      ...["serve", model, "--served-model-name", "teacher", "--host", "127.0.0.1", "--port", String(port)],
      ...["--dtype", "float32", "--max-model-len", String(MOST_TOKENS), "--max-num-seqs", "4"],
      "--enforce-eager",
    ],
    {
      port,
      folder,
      environment: {
        HF_HUB_OFFLINE: "1",
        VLLM_NO_USAGE_STATS: "1",
        DO_NOT_TRACK: "1",
        VLLM_CPU_KVCACHE_SPACE: "1",
        VLLM_CPU_OMP_THREADS_BIND: "nobind",
      },
    },
  );
}
