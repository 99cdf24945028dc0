/** Work that is done one piece after the other; one that fails holds up none. */
export class Turns {
  #last: Promise<unknown> = Promise.resolve();

  /** Does a piece once all before it have ended. Rejects as `work` does. */
  take<T>(work: () => Promise<T>): Promise<T> {
    const mine = this.#last.then(work);
    this.#last = mine.catch(() => undefined);
    return mine;
  }
}
