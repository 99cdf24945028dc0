/** A Java process with py4j's gateway, which never outlives this one. */
import { type ChildProcess, spawn } from "node:child_process";
import { join } from "node:path";
import { createInterface } from "node:readline";
import { InputError } from "../../core/errors.ts";
import type { SimulatorJar } from "./jar.ts";
import { JAR_NAME, makeJarFolder, removeJarFolder } from "./jar-folder.ts";
import { Py4jConnection } from "./py4j.ts";

export interface JvmOptions {
  /** The Java program; of `JAVA_HOME`, or the one on the path, if left out. */
  java?: string;
  /** Longest wait for the start, in milliseconds; two minutes if left out. */
  startMs?: number;
  /** Longest wait for one reply, in milliseconds; two minutes if left out. */
  replyMs?: number;
  /** Ends a process that is still starting. */
  signal?: AbortSignal;
}

/** As fast as with more memory, and a third of what the simulator takes without a limit. */
const FLAGS = ["-Xmx384m", "-XX:+UseSerialGC"];

/** How long a process that was told to end may take, in milliseconds. */
const GRACE = 2_000;

/** What one process printed last on standard error, for messages. */
const LAST_LINE = 300;

/** One process with one connection to it. */
export class Jvm {
  readonly #process: ChildProcess;
  readonly #folder: string;
  readonly #jar: SimulatorJar;
  readonly #ended: Promise<void>;
  #connection: Py4jConnection | null = null;
  #failure: InputError | null = null;
  #complaint = "";

  /**
   * Starts a process in a temporary folder of its own, since the simulator writes files where it stands.
   *
   * @throws InputError when there is no Java, it ends or hangs before the gateway answers, or the folder cannot be
   * written
   */
  static async start(jar: SimulatorJar, options: JvmOptions = {}): Promise<Jvm> {
    const { startMs = 120_000, replyMs = 120_000, signal } = options;
    signal?.throwIfAborted();
    const jvm = new Jvm(jar, options);
    const stop = () => void jvm.stop();
    signal?.addEventListener("abort", stop);
    try {
      jvm.#connection = await Py4jConnection.connect(await jvm.#port(startMs), replyMs);
      return jvm;
    } catch (error) {
      const failure =
        jvm.#failure ??
        (error instanceof InputError ? new InputError(error.reason, { file: jar.file }) : error);
      await jvm.stop();
      throw failure;
    } finally {
      signal?.removeEventListener("abort", stop);
    }
  }

  private constructor(jar: SimulatorJar, { java = javaProgram() }: JvmOptions) {
    this.#jar = jar;
    this.#folder = makeJarFolder(jar);
    const file = join(this.#folder, JAR_NAME);
    // The gateway ends with its standard input, and that closes with this process, however it ends.
    const command = [...FLAGS, "-classpath", file, "py4j.GatewayServer", "--die-on-broken-pipe", "0"];
    this.#process = spawn(java, command, { cwd: this.#folder, stdio: ["pipe", "pipe", "pipe"] });
    this.#process.stdin?.on("error", () => undefined);
    this.#process.stderr?.setEncoding("utf8").on("data", (text: string) => {
      this.#complaint = (this.#complaint + text).slice(-LAST_LINE);
    });
    this.#ended = new Promise((resolve) => {
      this.#process.once("error", (error: NodeJS.ErrnoException) => {
        const missing = "no Java was found: install a Java runtime (17 was tried), or set JAVA_HOME";
        this.#fail(error.code === "ENOENT" ? missing : `${java} cannot be started: ${error.message}`);
        resolve();
      });
      this.#process.once("exit", (code, signal) => {
        const last = this.#complaint.trimEnd().split("\n").at(-1);
        const words = last === "" || last === undefined ? "" : `: ${last}`;
        this.#fail(`the simulator ended (${signal ?? `exit code ${code}`})${words}`);
        resolve();
      });
    });
  }

  /** Ended, or no longer answering: nothing more can be asked of it. */
  get failed(): boolean {
    return this.#failure !== null;
  }

  get pid(): number | undefined {
    return this.#process.pid;
  }

  /**
   * Asks the gateway. A connection that fails ends the process: it can be asked nothing more.
   *
   * @throws InputError that names the simulator's file, when it ends or hangs
   */
  async ask<T>(question: (connection: Py4jConnection) => Promise<T>): Promise<T> {
    if (this.#failure !== null || this.#connection === null)
      throw this.#failure ?? new InputError("is not connected", { file: this.#jar.file });
    try {
      return await question(this.#connection);
    } catch (error) {
      if (!(error instanceof InputError)) throw error;
      // A closed connection is what the other end's end looks like: that says more.
      this.#process.kill("SIGKILL");
      await this.#ended;
      const { reason } = error;
      throw reason.startsWith("no reply") || this.#failure === null
        ? new InputError(`the simulator hangs: ${reason}`, { file: this.#jar.file })
        : this.#failure;
    }
  }

  /** Ends the process and removes its folder. */
  async stop(): Promise<void> {
    this.#failure ??= new InputError("was ended", { file: this.#jar.file });
    this.#connection?.fail(this.#failure);
    this.#process.stdin?.end();
    const late = setTimeout(() => this.#process.kill("SIGKILL"), GRACE);
    await this.#ended;
    clearTimeout(late);
    removeJarFolder(this.#folder);
  }

  #fail(reason: string): void {
    this.#failure ??= new InputError(reason, { file: this.#jar.file });
    this.#connection?.fail(this.#failure);
  }

  /** The gateway's port: its first line. All it prints later is read and dropped, or a full pipe would block it. */
  #port(limitMs: number): Promise<number> {
    return new Promise((resolve, reject) => {
      const refuse = (reason: string) => {
        this.#fail(reason);
        reject(this.#failure);
      };
      const timer = setTimeout(() => {
        refuse(`the simulator did not start within ${limitMs / 1000} s`);
        this.#process.kill("SIGKILL");
      }, limitMs);
      void this.#ended.then(() => {
        clearTimeout(timer);
        reject(this.#failure);
      });
      const output = this.#process.stdout;
      if (output === null) return;
      createInterface({ input: output }).once("line", (line) => {
        clearTimeout(timer);
        output.resume();
        if (/^\d+$/.test(line)) resolve(Number(line));
        else refuse(`expected the gateway's port, received ${JSON.stringify(line.slice(0, 80))}`);
      });
    });
  }
}

function javaProgram(): string {
  const { JAVA_HOME } = process.env;
  return JAVA_HOME ? join(JAVA_HOME, "bin", "java") : "java";
}
