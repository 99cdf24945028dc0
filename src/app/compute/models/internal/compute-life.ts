/** One compute worker, from the moment that it is asked for until its end. */
import type { ComputeClient } from "../../clients.ts";

export class ComputeLife {
  /** Resolves once its device is open. */
  readonly started: Promise<ComputeClient>;
  /**
   * Its end, after which it answers nothing: null where another device was chosen, and the new worker can be asked instead;
   * otherwise it rejects with an `AbortError`.
   */
  readonly over: Promise<null>;
  #resolve!: (left: null) => void;
  #reject!: (reason: DOMException) => void;

  constructor(
    readonly client: ComputeClient,
    start: (client: ComputeClient) => Promise<ComputeClient>,
  ) {
    this.over = new Promise((resolve, reject) => {
      this.#resolve = resolve;
      this.#reject = reject;
    });
    this.over.catch(() => undefined);
    this.started = start(client);
  }

  /** Ends it, since another worker takes its place and goes on with what is being opened. */
  leave(): void {
    this.client.end();
    this.#resolve(null);
  }

  end(): void {
    this.client.end();
    this.#reject(new DOMException("the compute worker was ended", "AbortError"));
  }
}
