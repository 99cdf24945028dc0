/** ScienceWorld for clients that may go away without a word: each has a session, and each session a lease. */
import { availableParallelism } from "node:os";
import { readTask, type TaskVariations } from "../../core/environment/scienceworld/task-name.ts";
import { EnvironmentError, InputError } from "../../core/errors.ts";
import type { EnvironmentAnswer, EnvironmentStart, NoAnswer } from "../../core/ports.ts";
import { LEASE_MS, type ScienceWorldInfo } from "../session-contract.ts";
import { ScienceWorldEnvironment } from "./environment.ts";
import { goldPath } from "./gold-path.ts";
import { openJar } from "./jar.ts";
import { type PoolOptions, SimulatorPool } from "./pool.ts";

export interface ServiceOptions extends PoolOptions {
  /** Milliseconds of the clock that leases run by; those since this process began if left out. */
  now?: () => number;
}

/** No session with this name is open. */
export class NoSessionError extends InputError {}

interface Session {
  environment: ScienceWorldEnvironment;
  /** Settles when all that was asked so far is answered: one question waits for another. */
  last: Promise<unknown>;
  /** Questions that are not answered yet: meanwhile the session does not end. */
  asked: number;
  until: number;
}

/** How long simulators that nobody uses are kept warm, in milliseconds. */
const WARM_MS = 300_000;

/** Sessions of one simulator file: at most one per core, but two where there is one core only. */
export class ScienceWorldService {
  readonly #pool: SimulatorPool;
  readonly #about: Omit<ScienceWorldInfo, "most" | "open">;
  readonly #now: () => number;
  readonly #sessions = new Map<string, Session>();
  readonly #timer: NodeJS.Timeout;
  #planning = 0;
  #used: number;

  /**
   * Starts a simulator, which tells its tasks and stays warm.
   *
   * @param path of a wheel, a JAR or a package folder
   * @throws InputError for a file that is not a simulator, or of another version than the paper's, and where none can be
   * started
   */
  static async open(path: string, { now, ...options }: ServiceOptions = {}): Promise<ScienceWorldService> {
    const jar = await openJar(path);
    const size = Math.max(2, availableParallelism());
    const pool = new SimulatorPool(jar, { size, ...options });
    try {
      const simulator = await pool.acquire();
      let tasks: TaskVariations[];
      try {
        tasks = await simulator.tasks();
      } finally {
        await pool.release(simulator);
      }
      const { file, version, sha256 } = jar;
      return new ScienceWorldService(pool, { file, version, sha256, tasks }, now);
    } catch (error) {
      await pool.close();
      throw error;
    }
  }

  private constructor(
    pool: SimulatorPool,
    about: Omit<ScienceWorldInfo, "most" | "open">,
    now = () => performance.now(),
  ) {
    this.#pool = pool;
    this.#about = about;
    this.#now = now;
    this.#used = now();
    this.#timer = setInterval(() => void this.endLate(), LEASE_MS / 4).unref();
  }

  info(): ScienceWorldInfo {
    return { ...this.#about, most: this.#pool.size, open: this.#sessions.size + this.#planning };
  }

  /**
   * Begins a task in a session, and opens the session if there is none with this name. A session whose task does not
   * begin is closed.
   *
   * @throws InputError for a task that the simulator does not have; EnvironmentError when another try may do: too many
   * sessions are open, or the simulator failed
   */
  async reset(name: string, task: string): Promise<EnvironmentStart> {
    readTask(task);
    await this.endLate();
    if (!this.#sessions.has(name)) {
      this.#requireFree();
      const environment = new ScienceWorldEnvironment(this.#pool);
      this.#sessions.set(name, { environment, last: Promise.resolve(), asked: 0, until: 0 });
    }
    try {
      return await this.#ask(name, (environment) => environment.reset(task));
    } catch (error) {
      await this.close(name);
      throw error;
    }
  }

  /** @throws NoSessionError */
  step(name: string, action: string): Promise<EnvironmentAnswer | NoAnswer> {
    return this.#ask(name, (environment) => environment.step(action));
  }

  /** Lets a session live on while its client has nothing to ask. @throws NoSessionError */
  renew(name: string): void {
    this.#session(name).until = this.#now() + LEASE_MS;
  }

  /** Ends a session once what it was asked is answered; one that is not open is closed already. */
  async close(name: string): Promise<void> {
    const session = this.#sessions.get(name);
    if (session === undefined) return;
    this.#sessions.delete(name);
    this.#used = this.#now();
    await session.last;
    await session.environment.close();
  }

  /** The gold path of a task. @throws EnvironmentError when another try may do; InputError as `reset` does */
  async plan(task: string): Promise<readonly string[]> {
    readTask(task);
    await this.endLate();
    this.#requireFree();
    this.#planning += 1;
    try {
      return await goldPath(this.#pool, task);
    } finally {
      this.#planning -= 1;
      this.#used = this.#now();
    }
  }

  /** Ends the sessions whose leases are over, and simulators that nobody has used for five minutes. */
  async endLate(): Promise<void> {
    const now = this.#now();
    const late = [...this.#sessions].filter(([, { asked, until }]) => asked === 0 && until <= now);
    await Promise.all(late.map(([name]) => this.close(name)));
    if (this.info().open === 0 && now >= this.#used + WARM_MS) await this.#pool.rest();
  }

  /** Ends all sessions and simulators. */
  async shutDown(): Promise<void> {
    clearInterval(this.#timer);
    // Ends those that are starting, too.
    const closed = this.#pool.close();
    const sessions = [...this.#sessions.values()];
    this.#sessions.clear();
    await Promise.all(sessions.map(({ environment }) => environment.close()));
    await closed;
  }

  #requireFree(): void {
    const { open, most } = this.info();
    if (open < most) return;
    throw new EnvironmentError(
      `all ${most} ScienceWorld simulators of the worker are in use: end an episode or a run that plays there; ` +
        `one whose page was closed ends after ${LEASE_MS / 1000} s`,
    );
  }

  #session(name: string): Session {
    const session = this.#sessions.get(name);
    if (session === undefined) throw noSession();
    return session;
  }

  async #ask<T>(name: string, question: (environment: ScienceWorldEnvironment) => Promise<T>): Promise<T> {
    const session = this.#session(name);
    session.asked += 1;
    const answer = session.last.then(() => {
      if (this.#sessions.get(name) !== session) throw noSession();
      return question(session.environment);
    });
    session.last = answer.catch(() => undefined);
    try {
      return await answer;
    } finally {
      session.asked -= 1;
      session.until = this.#now() + LEASE_MS;
    }
  }
}

const noSession = (): NoSessionError =>
  new NoSessionError(
    `its ScienceWorld session is over: the worker ends one after ${LEASE_MS / 1000} s without a word from the page, ` +
      "and when it is closed itself",
  );
