/** Simulators that are started when they are needed and kept warm: one per environment, at most one per core. */
import { setMaxListeners } from "node:events";
import { availableParallelism } from "node:os";
import type { SimulatorJar } from "./jar.ts";
import type { JvmOptions } from "./jvm.ts";
import { ScienceSimulator } from "./simulator.ts";

export interface PoolOptions extends JvmOptions {
  /** Most processes at once; one per core if left out. More would be slower together than fewer. */
  size?: number;
}

/** Lends simulators of one JAR. Several environments in one process disturb each other, so each has its own. */
export class SimulatorPool {
  /** Most environments that can be open at once; a further one waits until one is closed. */
  readonly size: number;
  readonly #jar: SimulatorJar;
  readonly #options: JvmOptions;
  readonly #idle: ScienceSimulator[] = [];
  readonly #waiting: { resolve(): void; reject(error: Error): void }[] = [];
  readonly #closing = new AbortController();
  #lent = 0;

  constructor(jar: SimulatorJar, { size = availableParallelism(), ...options }: PoolOptions = {}) {
    this.#jar = jar;
    this.size = size;
    // Each simulator that starts listens.
    setMaxListeners(size, this.#closing.signal);
    this.#options = options;
  }

  /**
   * A simulator for one environment: a warm one, a new one, or the next that is given back.
   *
   * @throws InputError when one cannot be started
   * @throws Error when the pool is closed, before or meanwhile
   */
  async acquire(): Promise<ScienceSimulator> {
    const { signal } = this.#closing;
    signal.throwIfAborted();
    while (this.#lent >= this.size)
      await new Promise<void>((resolve, reject) => {
        this.#waiting.push({ resolve, reject });
      });
    this.#lent++;
    try {
      return this.#idle.pop() ?? (await this.#start());
    } catch (error) {
      this.#returned();
      // A start that `close` ended fails with a reason of its own.
      signal.throwIfAborted();
      throw error;
    }
  }

  /** Gives one back. One that failed is ended; another is started when it is needed. */
  async release(simulator: ScienceSimulator): Promise<void> {
    if (this.#closing.signal.aborted || simulator.failed) await simulator.stop();
    else this.#idle.push(simulator);
    this.#returned();
  }

  /** Ends the simulators that nobody uses; others are started when they are needed. */
  async rest(): Promise<void> {
    await Promise.all(this.#idle.splice(0).map((simulator) => simulator.stop()));
  }

  /**
   * Ends every simulator that is idle or starting, and rejects pending `acquire` calls. Simulators that are lent end
   * when they are given back.
   */
  async close(): Promise<void> {
    const closed = new Error("the pool of simulators is closed");
    this.#closing.abort(closed);
    for (const { reject } of this.#waiting.splice(0)) reject(closed);
    await this.rest();
  }

  async #start(): Promise<ScienceSimulator> {
    const { signal } = this.#closing;
    const simulator = await ScienceSimulator.start(this.#jar, { ...this.#options, signal });
    if (signal.aborted) await simulator.stop();
    signal.throwIfAborted();
    return simulator;
  }

  #returned(): void {
    this.#lent--;
    this.#waiting.shift()?.resolve();
  }
}
