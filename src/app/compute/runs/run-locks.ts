/**
 * One owner for each run of the page, over all tabs of the browser: whoever holds the Web Lock of its id. A tab that is
 * closed, or dies, gives up its locks with it. Where a browser has no locks (outside a secure context) each tab stands
 * alone.
 */

interface Held {
  release: () => void;
  /** Resolves when others can have it. */
  released: Promise<unknown>;
}

const PREFIX = "gcopd-run ";

/** The runs that this tab owns, and what it can know of the others. */
export class RunLocks {
  readonly #held = new Map<string, Held>();

  /** @param manager undefined where the browser has no locks */
  constructor(private readonly manager: LockManager | undefined) {}

  /** Makes this tab the owner of a run; false where another one is. */
  async ownRun(id: string): Promise<boolean> {
    await this.#held.get(id)?.released;
    const { manager } = this;
    if (manager === undefined) return true;
    for (;;) {
      const mine = await new Promise<Held | null>((resolve) => {
        const released = manager.request(PREFIX + id, { ifAvailable: true }, (lock) => {
          if (lock === null) return resolve(null);
          return new Promise<void>((release) => {
            // The request has a promise only after this callback.
            queueMicrotask(() => resolve({ release, released }));
          });
        });
      });
      if (mine !== null) {
        this.#held.set(id, mine);
        return true;
      }
      if ((await this.ownedRuns()).has(id)) return false;
      // Only tabs that waited for its end have it, and for a moment.
    }
  }

  /** Gives a run up. */
  leaveRun(id: string): void {
    const mine = this.#held.get(id);
    mine?.release();
    void mine?.released.then(() => this.#held.get(id) === mine && this.#held.delete(id));
  }

  /** The runs that this tab owns. */
  ownHere(): string[] {
    return [...this.#held.keys()];
  }

  /** The runs that any tab owns. */
  async ownedRuns(): Promise<ReadonlySet<string>> {
    const all = (await this.manager?.query())?.held ?? [];
    const exclusive = all.filter(({ mode }) => mode === "exclusive");
    return new Set(
      exclusive.flatMap(({ name = "" }) => (name.startsWith(PREFIX) ? [name.slice(PREFIX.length)] : [])),
    );
  }

  /** Resolves when no tab owns the run any more. Rejects with an AbortError when `signal` aborts. */
  async whenFree(id: string, signal?: AbortSignal): Promise<void> {
    await this.manager?.request(PREFIX + id, { mode: "shared", ...(signal && { signal }) }, () => undefined);
  }
}

// Node 20, where unit tests load this, has no `navigator`.
export const runLocks = new RunLocks(globalThis.navigator?.locks);
