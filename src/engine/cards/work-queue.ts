/** Work on numbers that come one after the other: begun in their order, a few at a time. */
export class WorkQueue {
  readonly #waiting: number[] = [];
  readonly #resting: (() => void)[] = [];
  #running = 0;
  #stopped = false;

  constructor(
    private readonly atOnce: number,
    private readonly work: (k: number) => Promise<void>,
    /** Called with each error; nothing further is begun then. */
    private readonly failed: (error: unknown) => void,
  ) {}

  push(k: number): void {
    this.#waiting.push(k);
    this.#begin();
  }

  /** Begins nothing further. */
  stop(): void {
    this.#stopped = true;
    this.#waiting.length = 0;
    this.#rest();
  }

  /** Resolves when nothing waits and nothing runs. */
  idle(): Promise<void> {
    return new Promise((resolve) => {
      this.#resting.push(resolve);
      this.#rest();
    });
  }

  #begin(): void {
    while (!this.#stopped && this.#running < this.atOnce && this.#waiting.length > 0) {
      this.#running++;
      this.work(this.#waiting.shift()!)
        .catch((error: unknown) => {
          this.#stopped = true;
          this.#waiting.length = 0;
          this.failed(error);
        })
        .finally(() => {
          this.#running--;
          this.#begin();
          this.#rest();
        });
    }
  }

  #rest(): void {
    if (this.#running > 0 || this.#waiting.length > 0) return;
    for (const resolve of this.#resting.splice(0)) resolve();
  }
}
