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

const held = new Map<string, Held>();

const PREFIX = "gcopd-run ";

const locks = (): LockManager | undefined => navigator.locks;

/** Makes this tab the owner of a run; false where another one is. */
export async function ownRun(id: string): Promise<boolean> {
  await held.get(id)?.released;
  const manager = locks();
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
      held.set(id, mine);
      return true;
    }
    if ((await ownedRuns()).has(id)) return false;
    // Only tabs that waited for its end have it, and for a moment.
  }
}

/** Gives a run up. */
export function leaveRun(id: string): void {
  const mine = held.get(id);
  mine?.release();
  void mine?.released.then(() => held.get(id) === mine && held.delete(id));
}

/** The runs that this tab owns. */
export const ownHere = (): string[] => [...held.keys()];

/** The runs that any tab owns. */
export async function ownedRuns(): Promise<ReadonlySet<string>> {
  const all = (await locks()?.query())?.held ?? [];
  const exclusive = all.filter(({ mode }) => mode === "exclusive");
  return new Set(
    exclusive.flatMap(({ name = "" }) => (name.startsWith(PREFIX) ? [name.slice(PREFIX.length)] : [])),
  );
}

/** Resolves when no tab owns the run any more. Rejects with an AbortError when `signal` aborts. */
export async function whenFree(id: string, signal?: AbortSignal): Promise<void> {
  await locks()?.request(PREFIX + id, { mode: "shared", ...(signal && { signal }) }, () => undefined);
}
