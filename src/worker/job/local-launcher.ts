/** Runs a job's command as a process of this machine that outlives the worker. */
import { type ChildProcess, execFileSync, spawn } from "node:child_process";
import { closeSync, mkdirSync, openSync, readdirSync, readFileSync, rmSync } from "node:fs";
import { join } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import { pathToFileURL } from "node:url";
import { PACKAGE } from "../../node/package-root.ts";
import { writeAllSync } from "../../node/whole-file.ts";
import {
  isKill,
  type JobProcess,
  type Launcher,
  LOG_FILE,
  OUTPUT_FILE,
  type ProcessEnd,
  type ProcessSpec,
  type Recovered,
} from "./launcher.ts";
import { noteMemoryKills, wasKilledForMemory } from "./memory-kills.ts";

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

  async launch(spec: ProcessSpec): Promise<JobProcess> {
    mkdirSync(spec.folder, { recursive: true });
    noteMemoryKills(spec.folder);
    const { GCOPD_TOKEN: _token, GCOPD_RUN: _run, ...env } = process.env;
    const opened: number[] = [];
    let child: ChildProcess;
    try {
      for (const name of [OUTPUT_FILE, LOG_FILE]) opened.push(openSync(join(spec.folder, name), "a"));
      // A session of its own: neither the worker's end nor its terminal's Ctrl-C reaches it.
      child = spawn(process.execPath, ["--import", preload(spec.folder), this.#cli, ...spec.args], {
        cwd: spec.folder,
        detached: true,
        // The channel is open until the run has begun: see bin/record-run.mjs.
        stdio: ["ignore", ...opened, "ipc"],
        env,
      });
    } finally {
      for (const descriptor of opened) close(descriptor);
    }
    const ended = new Promise<ProcessEnd>((resolve) => {
      child.once("exit", (code, signal) => {
        if (code === null)
          resolve(withEvidence({ kind: "signal", signal: signal ?? "unknown" }, spec.folder));
        else resolve(withEvidence({ kind: "exit", code }, spec.folder));
      });
    });
    await new Promise<void>((resolve, reject) => {
      child.once("error", reject);
      child.once("message", (fault: NodeJS.ErrnoException) =>
        reject(Object.assign(new Error(fault.message), fault)),
      );
      // After the message, where there is one.
      child.once("disconnect", resolve);
    });
    return this.#run(child.pid!, ended);
  }

  async recover(spec: ProcessSpec): Promise<Recovered> {
    mkdirSync(spec.folder, { recursive: true });
    if (revoke(join(spec.folder, "pid"))) return { kind: "never" };
    const written = await this.#readPid(spec.folder);
    // Revoked, or a process that ended before it could say who it is.
    if (!/^\d+$/.test(written)) return { kind: "never" };
    const pid = Number(written);
    if (!isRun(pid, spec.folder)) return { kind: "ended", end: recordedEnd(spec.folder) };
    return { kind: "running", run: this.#run(pid, this.#watch(pid, spec.folder)) };
  }

  /** The file exists before its content, for as long as a busy machine holds up the process that writes it. */
  async #readPid(folder: string): Promise<string> {
    const read = () => readFileSync(join(folder, "pid"), "utf8");
    let text = read();
    for (let lives = true; lives && text === ""; ) {
      // Looked for first: what it wrote before its end is read.
      lives = hasProcess(folder);
      text = read();
      if (lives && text === "") await sleep(this.#pollMs);
    }
    return text;
  }

  async #watch(pid: number, folder: string): Promise<ProcessEnd> {
    for (;;) {
      try {
        if (!isRun(pid, folder)) return recordedEnd(folder);
      } catch {
        // It cannot be seen now, which does not end it.
      }
      await sleep(this.#pollMs, undefined, { ref: false });
    }
  }

  #run(pid: number, ended: Promise<ProcessEnd>): JobProcess {
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

/**
 * Creates the file that says who came first: see bin/record-run.mjs. False when the run did.
 *
 * @throws when the file cannot be written: it is deleted again then, and nothing is decided
 */
function revoke(file: string): boolean {
  let descriptor: number;
  try {
    descriptor = openSync(file, "wx");
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === "EEXIST") return false;
    throw error;
  }
  try {
    writeAllSync(descriptor, REVOKED);
    return true;
  } catch (error) {
    rmSync(file, { force: true });
    throw error;
  } finally {
    close(descriptor);
  }
}

/** A descriptor is gone even where closing it reports an error; what was written is checked when it is read. */
function close(descriptor: number): void {
  try {
    closeSync(descriptor);
  } catch {
    // As above.
  }
}

/** Process ids are given again; a run's command line, which names its own folder, is not. */
function isRun(pid: number, folder: string): boolean {
  return pid > 0 && commandLine(pid).includes(preload(folder));
}

/** Whether any living process is the run of this folder, before it has said which. */
function hasProcess(folder: string): boolean {
  if (process.platform !== "linux") return ps("-A").includes(preload(folder));
  return readdirSync("/proc").some((name) => /^\d+$/.test(name) && isRun(Number(name), folder));
}

/**
 * Command line of a living process; empty when there is none (also for one that is dead but not yet collected).
 *
 * @throws when the system does not tell
 */
function commandLine(pid: number): string {
  if (process.platform !== "linux") return ps("-p", String(pid));
  return unlessGone(() => readFileSync(`/proc/${pid}/cmdline`, "utf8"));
}

/** Command lines of the processes that `ps` selects. @throws when the system does not tell */
function ps(...selection: string[]): string {
  return unlessGone(() =>
    execFileSync("ps", ["-ww", "-o", "command=", ...selection], {
      encoding: "utf8",
      stdio: ["ignore", "pipe", "ignore"],
    }),
  );
}

/**
 * What `look` sees of a process; empty when that is not there (no such file, a read that finds it gone, `ps` ending
 * with 1), when it is another user's and hidden, or when there is no `ps`.
 */
function unlessGone(look: () => string): string {
  try {
    return look();
  } catch (error) {
    const { code, status } = error as NodeJS.ErrnoException & { status?: number };
    if (["ENOENT", "ESRCH", "EACCES", "EPERM"].includes(code ?? "") || status === 1) return "";
    throw error;
  }
}

/** @throws when there is a record that cannot be read now */
function recordedEnd(folder: string): ProcessEnd {
  let text: string;
  try {
    text = readFileSync(join(folder, "exit"), "utf8");
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code !== "ENOENT") throw error;
    // The run ended with nobody to take it down.
    return withEvidence({ kind: "unknown" }, folder);
  }
  try {
    const end: unknown = JSON.parse(text);
    if (typeof end === "object" && end !== null && "code" in end && typeof end.code === "number")
      return withEvidence({ kind: "exit", code: end.code }, folder);
  } catch {
    // Cut off by a power cut.
  }
  return withEvidence({ kind: "unknown" }, folder);
}

/** Whatever ended, the kernel may have had a hand in it. */
function withEvidence(end: ProcessEnd, folder: string): ProcessEnd {
  return isKill(end) && wasKilledForMemory(folder) ? { ...end, memory: true } : end;
}

function signalGroup(pid: number, signal: NodeJS.Signals): void {
  try {
    process.kill(process.platform === "win32" ? pid : -pid, signal);
  } catch {
    // Already gone.
  }
}
