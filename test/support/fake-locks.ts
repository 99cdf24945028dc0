import { fake } from "./fake.ts";

type Mode = "exclusive" | "shared";
interface Waiting {
  name: string;
  mode: Mode;
  begin: () => void;
}

/** Browsers answer in a task of its own, and take longer to give a lock back. */
const task = (): Promise<void> => new Promise((resolve) => setTimeout(resolve));

/** Web Locks as far as the page needs them: who asks first has a name first. */
export class FakeLocks {
  held: { name: string; mode: Mode }[] = [];
  #waiting: Waiting[] = [];

  readonly manager = fake<LockManager>({
    query: async () => {
      await task();
      return { held: [...this.held], pending: [] };
    },
    request: (async (
      name: string,
      { mode = "exclusive", ifAvailable = false, signal }: LockOptions,
      work: (lock: object | null) => unknown,
    ) => {
      if (ifAvailable && !this.#isFree(name, mode)) return work(null);
      await new Promise<void>((begin, reject) => {
        signal?.addEventListener("abort", () => {
          this.#waiting = this.#waiting.filter((each) => each.begin !== begin);
          reject(signal.reason);
        });
        this.#waiting.push({ name, mode, begin });
        this.#serve();
      });
      const lock = this.held.findLast((each) => each.name === name && each.mode === mode)!;
      try {
        return await work(lock);
      } finally {
        await task();
        await task();
        this.held = this.held.filter((each) => each !== lock);
        this.#serve();
      }
    }) as never,
  });

  #isFree(name: string, mode: Mode): boolean {
    const others = this.held.filter((each) => each.name === name);
    return mode === "shared" ? others.every((each) => each.mode === "shared") : others.length === 0;
  }

  #serve(): void {
    const next = this.#waiting.find(({ name, mode }) => this.#isFree(name, mode));
    if (next === undefined) return;
    this.#waiting = this.#waiting.filter((each) => each !== next);
    this.held.push({ name: next.name, mode: next.mode });
    next.begin();
    this.#serve();
  }
}
