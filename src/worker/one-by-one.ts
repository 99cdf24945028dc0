/** Work that starts processes, bounded: one at a time, so many more waiting, and the rest refused. */
import { untilAborted } from "../core/until-aborted.ts";
import { ApiError } from "./http/errors.ts";

export class OneByOne {
  readonly #most: number;
  /** What waits, and before it what goes on. */
  readonly #line: (() => void)[] = [];

  /** @param most pieces of work that may wait beside the one that goes on */
  constructor(most: number) {
    this.#most = most;
  }

  /**
   * Does `work` when its turn comes.
   *
   * @param what for the refusal: what there is too much of
   * @param signal takes it out of the line while it waits
   * @throws ApiError 503 when too many wait; the signal's reason
   */
  async run<T>(what: string, signal: AbortSignal, work: () => Promise<T>): Promise<T> {
    if (this.#line.length > this.#most)
      throw new ApiError(503, `${this.#line.length} ${what} are under way or wait: try again later`);
    let enter = () => {};
    const turn = new Promise<void>((resolve) => {
      enter = resolve;
    });
    this.#line.push(enter);
    if (this.#line.length === 1) enter();
    try {
      await untilAborted(signal, turn);
      return await work();
    } finally {
      this.#line.splice(this.#line.indexOf(enter), 1);
      this.#line[0]?.();
    }
  }
}
