/** Simulators that are started when they are needed and kept warm: one per environment, at most one per core. */
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
  readonly #waiting: (() => void)[] = [];
  #lent = 0;
  #closed = false;

  constructor(jar: SimulatorJar, { size = availableParallelism(), ...options }: PoolOptions = {}) {
    this.#jar = jar;
    this.size = size;
    this.#options = options;
  }

  /** A simulator for one environment: a warm one, a new one, or the next that is given back. */
  async acquire(): Promise<ScienceSimulator> {
    while (this.#lent >= this.size)
      await new Promise<void>((resolve) => {
        this.#waiting.push(resolve);
      });
    this.#lent++;
    try {
      return this.#idle.pop() ?? (await ScienceSimulator.start(this.#jar, this.#options));
    } catch (error) {
      this.#returned();
      throw error;
    }
  }

  /** Gives one back. One that failed is ended; another is started when it is needed. */
  async release(simulator: ScienceSimulator): Promise<void> {
    if (this.#closed || simulator.failed) await simulator.stop();
    else this.#idle.push(simulator);
    this.#returned();
  }

  /** Ends every idle simulator; those that are lent end when they are given back. */
  async close(): Promise<void> {
    this.#closed = true;
    await Promise.all(this.#idle.splice(0).map((simulator) => simulator.stop()));
  }

  #returned(): void {
    this.#lent--;
    this.#waiting.shift()?.();
  }
}
