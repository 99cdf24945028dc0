/** Runs a job's command as a process of this machine that outlives the worker. */
import { type ChildProcess, execFileSync, spawn } from "node:child_process";
import { closeSync, existsSync, mkdirSync, openSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import { pathToFileURL } from "node:url";
import { PACKAGE } from "../package-root.ts";
import {
  type Launcher,
  LOG_FILE,
  OUTPUT_FILE,
  type Recovered,
  type Run,
  type RunEnd,
  type RunSpec,
} from "./launcher.ts";

export interface LocalLauncherOptions {
  /** Script that takes the arguments; the command line itself unless a test says otherwise. */
  cli?: string;
  /** Milliseconds between asking a process to stop, asking again, and ending it. */
  graceMs?: number;
  /** Milliseconds between two looks at a process that a previous worker started. */
  pollMs?: number;
}

const REVOKED = "revoked";

export class LocalLauncher implements Launcher {
  readonly #cli: string;
  readonly #graceMs: number;
  readonly #pollMs: number;

  constructor(options: LocalLauncherOptions = {}) {
    this.#cli = options.cli ?? join(PACKAGE.root, "bin", "gcopd.js");
    this.#graceMs = options.graceMs ?? 10_000;
    this.#pollMs = options.pollMs ?? 250;
  }

  async launch(spec: RunSpec): Promise<Run> {
    mkdirSync(spec.folder, { recursive: true });
    const output = openSync(join(spec.folder, OUTPUT_FILE), "a");
    const log = openSync(join(spec.folder, LOG_FILE), "a");
    const { GCOPD_TOKEN: _token, GCOPD_RUN: _run, ...env } = process.env;
    let child: ChildProcess;
    try {
      // A session of its own: neither the worker's end nor its terminal's Ctrl-C reaches it.
      child = spawn(process.execPath, ["--import", preload(spec.folder), this.#cli, ...spec.args], {
        cwd: spec.folder,
        detached: true,
        stdio: ["ignore", output, log],
        env,
      });
    } finally {
      closeSync(output);
      closeSync(log);
    }
    const ended = new Promise<RunEnd>((resolve) => {
      child.once("exit", (code, signal) =>
        resolve(code === null ? { kind: "signal", signal: signal ?? "unknown" } : { kind: "exit", code }),
      );
    });
    await new Promise<void>((resolve, reject) => {
      child.once("spawn", resolve);
      child.once("error", reject);
    });
    return this.#run(child.pid!, ended);
  }

  async recover(spec: RunSpec): Promise<Recovered> {
    mkdirSync(spec.folder, { recursive: true });
    try {
      // Whoever creates this file decides: see bin/record-run.mjs.
      writeFileSync(join(spec.folder, "pid"), REVOKED, { flag: "wx" });
      return { kind: "never" };
    } catch (error) {
      if ((error as NodeJS.ErrnoException).code !== "EEXIST") throw error;
    }
    const written = await this.#readPid(spec.folder);
    if (written === REVOKED) return { kind: "never" };
    const pid = Number(written);
    if (!isRun(pid, spec.folder)) return { kind: "ended", end: recordedEnd(spec.folder) };
    return { kind: "running", run: this.#run(pid, this.#watch(pid, spec.folder)) };
  }

  /** The file exists a moment before its content. */
  async #readPid(folder: string): Promise<string> {
    for (let look = 0; look < 20; look++) {
      const text = readFileSync(join(folder, "pid"), "utf8");
      if (text !== "") return text;
      await sleep(50);
    }
    return "0";
  }

  async #watch(pid: number, folder: string): Promise<RunEnd> {
    while (isRun(pid, folder)) await sleep(this.#pollMs, undefined, { ref: false });
    return recordedEnd(folder);
  }

  #run(pid: number, ended: Promise<RunEnd>): Run {
    let over = false;
    let asked = false;
    let kill: NodeJS.Timeout | undefined;
    void ended.then(() => {
      over = true;
      clearTimeout(kill);
    });
    return {
      name: `process ${pid}`,
      ended,
      stop: ({ patient } = { patient: false }) => {
        if (over || kill !== undefined || (patient && asked)) return;
        // Training ends after its step when it is asked once, and within it when it is asked twice.
        signalGroup(pid, "SIGTERM");
        asked = true;
        if (patient) return;
        kill = setTimeout(() => {
          signalGroup(pid, "SIGTERM");
          kill = setTimeout(() => signalGroup(pid, "SIGKILL"), this.#graceMs);
        }, this.#graceMs);
      },
    };
  }
}

function preload(folder: string): string {
  const url = pathToFileURL(join(PACKAGE.root, "bin", "record-run.mjs"));
  url.searchParams.set("folder", folder);
  return url.href;
}

/** Process ids are given again; a run's command line, which names its own folder, is not. */
function isRun(pid: number, folder: string): boolean {
  return pid > 0 && commandLine(pid).includes(preload(folder));
}

/** Command line of a living process; empty when there is none (also for one that is dead but not yet collected). */
function commandLine(pid: number): string {
  try {
    if (existsSync("/proc/self/cmdline")) return readFileSync(`/proc/${pid}/cmdline`, "utf8");
    return execFileSync("ps", ["-ww", "-o", "command=", "-p", String(pid)], {
      encoding: "utf8",
      stdio: ["ignore", "pipe", "ignore"],
    });
  } catch {
    return "";
  }
}

function recordedEnd(folder: string): RunEnd {
  try {
    const end: unknown = JSON.parse(readFileSync(join(folder, "exit"), "utf8"));
    if (typeof end === "object" && end !== null && "code" in end && typeof end.code === "number")
      return { kind: "exit", code: end.code };
  } catch {
    // Not there, or half-written: the run ended with nobody to take it down.
  }
  return { kind: "unknown" };
}

function signalGroup(pid: number, signal: NodeJS.Signals): void {
  try {
    process.kill(process.platform === "win32" ? pid : -pid, signal);
  } catch {
    // Already gone.
  }
}
