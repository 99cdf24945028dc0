import * as Comlink from "comlink";
import { afterEach, beforeEach, expect, it, vi } from "vitest";
import { Pending } from "../../../../test/support/fake.ts";
import { startedWhenAsked, startRemote } from "./remote-worker.ts";

interface Api {
  double(n: number): number;
  fail(): void;
}

/** Stands in for the browser's: what it is asked before its script has come waits. */
class FakeWorker extends EventTarget {
  readonly terminate = vi.fn();
  #waiting: unknown[] | null = [];
  readonly #thread = Object.assign(new EventTarget(), {
    postMessage: (data: unknown) => this.dispatchEvent(new MessageEvent("message", { data })),
  });

  constructor() {
    super();
    started.push(this);
  }

  postMessage(data: unknown): void {
    if (this.#waiting === null) this.#hear(data);
    else this.#waiting.push(data);
  }

  #hear(data: unknown): void {
    this.#thread.dispatchEvent(new MessageEvent("message", { data }));
  }

  /** Its script has come. */
  run(api: object): void {
    Comlink.expose(api, this.#thread);
    for (const data of this.#waiting ?? []) this.#hear(data);
    this.#waiting = null;
  }
}

let started: FakeWorker[];
const api = {
  double: (n: number) => 2 * n,
  fail: () => {
    throw new RangeError("no such number");
  },
};

beforeEach(() => {
  started = [];
  vi.stubGlobal("Worker", FakeWorker);
  vi.stubGlobal("location", new URL("http://127.0.0.1:8791/page/"));
});
afterEach(() => vi.unstubAllGlobals());

const remote = () => startRemote<Api>("/assets/games-1.js", "games");
const notLoaded = "the games worker could not start: its script /assets/games-1.js did not load";

it("a worker's calls give what it answers and throws", async () => {
  const { api: asked, end } = remote();
  started[0]!.run(api);
  expect(await asked.double(4)).toBe(8);
  await expect(asked.fail()).rejects.toThrow("no such number");
  end();
  expect(started[0]!.terminate).toHaveBeenCalledOnce();
});

it("where the script does not load, the calls before and after say so", async () => {
  const { api: asked } = remote();
  const calls = [asked.double(1), asked.double(2)];
  started[0]!.dispatchEvent(new Event("error"));
  for (const call of [...calls, asked.double(3)])
    await expect(call).rejects.toMatchObject({
      name: "InputError",
      message: expect.stringContaining(notLoaded),
    });
});

it("where the script throws, the calls say what", async () => {
  const { api: asked } = remote();
  const call = asked.double(1);
  started[0]!.dispatchEvent(Object.assign(new Event("error"), { message: "SyntaxError: unexpected token" }));
  await expect(call).rejects.toThrow("the games worker could not start: SyntaxError: unexpected token");
});

it("an error of a worker that has answered leaves its calls alone", async () => {
  const { api: asked } = remote();
  const late = new Pending<number>();
  const double = (n: number) => (n === 1 ? 2 : late.promise);
  started[0]!.run({ ...api, double });
  await asked.double(1);
  const call = asked.double(2);
  started[0]!.dispatchEvent(new Event("error"));
  late.resolve(7);
  expect(await call).toBe(7);
  expect(started[0]!.terminate).not.toHaveBeenCalled();
});

it("a worker starts once, when it is first asked for; one that could not start is started again", async () => {
  const games = startedWhenAsked<Api>("/assets/games-1.js", "games");
  expect([games.present(), started.length]).toEqual([null, 0]);
  const call = games.ask().double(1);
  games.ask();
  expect(started).toHaveLength(1);
  started[0]!.dispatchEvent(new Event("error"));
  await expect(call).rejects.toThrow(notLoaded);
  expect(games.present()).toBeNull();
  const again = games.ask().double(5);
  started[1]!.run(api);
  expect(await again).toBe(10);
  expect(started).toHaveLength(2);
});
