import { afterEach, beforeEach, expect, it, onTestFinished, vi } from "vitest";
import { fake, Pending } from "../../../../test/support/fake.ts";
import { DeviceError, InputError } from "../../../core/errors.ts";
import { useHint } from "../../base/hint.ts";
import type { FolderFiles } from "../../data/files/blob-folder.ts";
import type { ComputeClient } from "../clients.ts";
import { Models } from "../models/models.ts";
import { getUi, IDLE_TRAINING, setUi } from "../store.ts";
import { type ScoringRun, ScoringRuns, scoreKey } from "./scoring-run.ts";

/** What the device was asked for, how often the further model was closed, and how often the worker was ended. */
let asked: number;
let closed: number;
let ended: number;
let runs: ScoringRuns;

beforeEach(() => {
  vi.useFakeTimers();
  [asked, closed, ended] = [0, 0, 0];
  const ask = async (): Promise<unknown[]> => {
    asked += 1;
    return [{}];
  };
  const client = fake<ComputeClient>({
    api: fake<ComputeClient["api"]>({
      ...({ score: ask, loadOther: ask } as object),
      abort: async () => undefined,
      closeOther: async () => {
        closed += 1;
      },
    }),
  });
  const models = Object.assign(new Models({} as never), {
    worker: async () => client,
    ensure: async () => {
      await ask();
      return client;
    },
    ensureTokenizers: async () => undefined,
    endWorker: () => {
      ended += 1;
    },
  });
  runs = new ScoringRuns({ models });
  setUi({ scoring: { status: "idle" } });
});
afterEach(() => vi.useRealTimers());

const pass = { model: "teacher", label: "", promptIds: [1], responseIds: [2] } as const;
const folder: FolderFiles = { name: "m", files: new Map() };
const scoring = () => getUi().scoring;

it.each<[string, (run: ScoringRun) => unknown]>([
  ["a model", (run) => run.open("student")],
  ["a further model", (run) => run.openOther(folder)],
  ["a pass", (run) => run.score([pass], () => undefined)],
  ["several sequences", (run) => run.together("teacher", [pass], {})],
  [
    "a job",
    (run) => run.runJobs([{ label: "", tokens: 1 }], (_, call) => call("teacher", [pass], {}).then()),
  ],
  [
    "something else",
    (run) => {
      run.checkStop();
      asked += 1;
    },
  ],
])(
  "stopped between two passes, a run asks the device for nothing more and keeps its worker: %s",
  async (_, ask) => {
    let stopped: Promise<void> | null = null;
    await runs.run("left-out", "key", async (run) => {
      await run.open("teacher");
      expect(asked).toBe(1);
      stopped = runs.cancel();
      // What is not of the device may come in between, and is kept.
      expect(await run.wait(Promise.resolve("text"))).toBe("text");
      await ask(run);
    });
    expect(asked).toBe(1);
    expect(scoring().status).toBe("idle");
    expect(useHint.getState().text).toBe("Scoring was cancelled.");
    await vi.runAllTimersAsync();
    await stopped;
    expect(ended).toBe(0);
  },
);

it("while one run is at work, another does nothing", async () => {
  const answer = new Pending();
  const first = runs.run("left-out", "first", (run) => run.wait(answer.promise));
  const second = vi.fn();
  await runs.run("side", "second", second);
  expect(second).not.toHaveBeenCalled();
  expect(scoring()).toMatchObject({ status: "running", job: "left-out", key: "first" });
  answer.resolve();
  await first;
  expect(scoring()).toEqual({ status: "idle" });
});

it("begins beside a trained student that is being kept, and not while one is trained", async () => {
  const work = vi.fn();
  for (const status of ["running", "keeping"] as const) {
    setUi({ training: { ...IDLE_TRAINING, status } });
    await runs.run("side", status, work);
  }
  expect(work.mock.calls.map(([run]) => run.key)).toEqual(["keeping"]);
  setUi({ training: IDLE_TRAINING });
});

const answers = (answer: Pending): void => answer.resolve();
const fails = (answer: Pending): void => answer.reject(new DeviceError("the device was lost", "lost"));

it.each([
  ["an answer that comes late", answers, false],
  ["an answer that comes while the next one runs", answers, true],
  ["a fault that comes late", fails, false],
  ["a fault that comes while the next one runs", fails, true],
])("a run that does not hear is ended with its worker; %s changes nothing", async (_, come, isNext) => {
  const late = new Pending();
  const kept = vi.fn();
  const at = { library: "l", environment: "e", task: "t", episode: "t#0", decision: 2 };
  const key = scoreKey({ ...at, selection: {}, endOfTurn: true });
  const said: string[] = [];
  onTestFinished(useHint.subscribe(({ text }) => text !== "" && said.push(text)));
  const first = runs.run("left-out", key, async (run) => {
    await run.openOther(folder);
    await run.wait(late.promise);
    kept();
  });
  await vi.advanceTimersByTimeAsync(0);
  const stopped = runs.cancel();
  expect(scoring()).toEqual({ status: "cancelling", job: "left-out", key });
  await vi.runAllTimersAsync();
  await stopped;
  expect(said).toEqual(["Scoring of decision 2 of t#0 was cancelled."]);
  expect({ status: scoring().status, ended }).toEqual({ status: "idle", ended: 1 });
  const answer = new Pending();
  const second = isNext && runs.run("side", "second", (run) => run.wait(answer.promise));
  const before = scoring();
  come(late);
  await first;
  expect(kept).not.toHaveBeenCalled();
  expect(scoring()).toEqual(before);
  // The next worker is another one: it is not ended, and nothing is closed there.
  expect({ ended, closed }).toEqual({ ended: 1, closed: 0 });
  answer.resolve();
  await second;
});

it("a cancel is over once its run is: the next run has its own time to hear that it is cancelled", async () => {
  const answer = new Pending();
  const first = runs.run("left-out", "first", (run) => run.wait(answer.promise));
  const stopped = runs.cancel();
  answer.resolve();
  await first;
  await vi.advanceTimersByTimeAsync(1);
  const next = new Pending();
  const second = runs.run("side", "second", (run) => run.wait(next.promise));
  const stoppedToo = runs.cancel();
  vi.advanceTimersToNextTimer();
  await stopped;
  expect({ status: scoring().status, ended }).toEqual({ status: "cancelling", ended: 0 });
  next.resolve();
  await second;
  await vi.runAllTimersAsync();
  await stoppedToo;
  expect({ status: scoring().status, ended }).toEqual({ status: "idle", ended: 0 });
});

it("tells a fault once, and a device that failed is given up with its worker", async () => {
  const told: unknown[] = [];
  const fail = (error: Error) => runs.run("left-out", "key", () => Promise.reject(error));
  await fail(new InputError("no tokens"));
  told.push(scoring(), ended);
  await fail(new DeviceError("the device was lost", "lost"));
  told.push(scoring(), ended);
  const failed = { status: "failed", job: "left-out", key: "key" };
  expect(told).toEqual([
    ...[{ ...failed, message: "no tokens" }, 0],
    ...[{ ...failed, message: "the device was lost. The next work opens another." }, 1],
  ]);
});

it("closes the further model with the run, however that ends", async () => {
  await runs.run("side", "key", async (run) => {
    await run.openOther(folder);
    // It is open: nothing more is asked.
    await run.openOther(folder);
    expect([run.hasOther(folder), run.hasOther({ ...folder })]).toEqual([true, false]);
    expect({ asked, closed }).toEqual({ asked: 1, closed: 0 });
  });
  await vi.advanceTimersByTimeAsync(0);
  expect(closed).toBe(1);
  await runs.run("side", "key", async (run) => {
    await run.openOther(folder);
    throw new InputError("no tokens");
  });
  await vi.advanceTimersByTimeAsync(0);
  expect(closed).toBe(2);
  await runs.run("side", "key", (run) => run.open("teacher"));
  await vi.advanceTimersByTimeAsync(0);
  expect(closed).toBe(2);
});
