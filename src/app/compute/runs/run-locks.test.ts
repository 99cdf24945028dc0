import { beforeEach, expect, it } from "vitest";
import { fake, until } from "../../../../test/support/fake.ts";
import { RunLocks } from "./run-locks.ts";

type Mode = "exclusive" | "shared";
interface Waiting {
  name: string;
  mode: Mode;
  begin: () => void;
}

/** Browsers answer in a task of its own, and take longer to give a lock back. */
const task = (): Promise<void> => new Promise((resolve) => setTimeout(resolve));

/** Web Locks as far as runs need them: who asks first has a name first. */
class Locks {
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

const ID = "page-1";
let locks: Locks;
let here: RunLocks;
let there: RunLocks;

beforeEach(() => {
  locks = new Locks();
  [here, there] = [new RunLocks(locks.manager), new RunLocks(locks.manager)];
});

it("a run has one tab; another may have it once it was given up", async () => {
  expect(await here.ownRun(ID)).toBe(true);
  expect(await there.ownRun(ID)).toBe(false);
  expect([here.ownHere(), there.ownHere()]).toEqual([[ID], []]);
  expect(await there.ownedRuns()).toEqual(new Set([ID]));
  here.leaveRun(ID);
  await until(() => expect(here.ownHere()).toEqual([]));
  expect(await there.ownRun(ID)).toBe(true);
  expect(await here.ownRun(ID)).toBe(false);
});

it("a tab takes a run again that it is just giving up", async () => {
  await here.ownRun(ID);
  here.leaveRun(ID);
  expect(await here.ownRun(ID)).toBe(true);
  await until(() => expect(locks.held).toHaveLength(1));
  expect([here.ownHere(), await there.ownRun(ID)]).toEqual([[ID], false]);
});

it("who waits for the end of a run does not keep others from it, and waits again while they have it", async () => {
  await here.ownRun(ID);
  let ends = 0;
  const end = there.whenFree(ID).then(() => {
    ends += 1;
  });
  await Promise.resolve();
  expect(ends).toBe(0);
  here.leaveRun(ID);
  // The one that waited has it for a moment.
  expect(await here.ownRun(ID)).toBe(true);
  await end;
  expect(ends).toBe(1);
});

it("waiting is given up when it is asked to, and what a run of another kind holds is no run", async () => {
  await here.ownRun(ID);
  const left = new AbortController();
  const waiting = there.whenFree(ID, left.signal);
  left.abort();
  await expect(waiting).rejects.toMatchObject({ name: "AbortError" });
  void locks.manager.request("of something else", {}, () => new Promise(() => undefined));
  await until(() => expect(locks.held).toHaveLength(2));
  expect(await here.ownedRuns()).toEqual(new Set([ID]));
});

it("where a browser has no locks each tab stands alone", async () => {
  const alone = new RunLocks(undefined);
  expect(await alone.ownRun(ID)).toBe(true);
  expect([alone.ownHere(), await alone.ownedRuns()]).toEqual([[], new Set()]);
  await alone.whenFree(ID);
  alone.leaveRun(ID);
});
