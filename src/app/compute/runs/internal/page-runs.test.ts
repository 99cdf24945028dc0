import { afterEach, beforeEach, expect, it, vi } from "vitest";
import { fake, Pending, until } from "../../../../../test/support/fake.ts";
import { InputError } from "../../../../core/errors.ts";
import { NO_FIGURES, type Run } from "../run.ts";
import { getRuns, newRun, useRuns } from "../runs-store.ts";
import type { KeptRun } from "./page-archive.ts";
import { PageRuns } from "./page-runs.ts";

const RUN = { id: "page-1", title: "gc-opd", config: {} };

type Clients = ConstructorParameters<typeof PageRuns>;

/** What the browser keeps, and which runs this tab and others own. */
let kept: Map<string, KeptRun>;
let own: Set<string>;
let elsewhere: Set<string>;
let archive: Clients[0];
let runs: PageRuns;

beforeEach(() => {
  vi.useFakeTimers();
  vi.advanceTimersByTime(60_000);
  kept = new Map();
  own = new Set();
  elsewhere = new Set();
  archive = fake<Clients[0]>({
    keepRun: vi.fn(async (run) => kept.set(run.id, run)),
    keptRun: async (id) => kept.get(id),
    keptRuns: async () => [...kept.values()],
    dropKept: async (id) => void kept.delete(id),
    sweepFiles: vi.fn(async () => {}),
    hasCheckpoint: async (id) => id === "with-checkpoint",
  });
  const locks = fake<Clients[1]>({
    ownRun: async (id) => !elsewhere.has(id) && own.add(id) !== undefined,
    leaveRun: (id) => void own.delete(id),
    ownedRuns: async () => new Set([...own, ...elsewhere]),
  });
  runs = new PageRuns(archive, locks);
});
afterEach(() => {
  vi.useRealTimers();
  useRuns.setState(useRuns.getInitialState());
});

it("a run that ends is written down before others may have it, and before it is taken up again", async () => {
  const writing = new Pending();
  await runs.take(RUN.id);
  runs.begin(RUN, { seed: 1 });
  await runs.keepPlan(RUN.id, { seed: 2 });
  vi.mocked(archive.keepRun).mockImplementationOnce((run) =>
    writing.promise.then(() => kept.set(run.id, run)),
  );
  runs.end(RUN.id, "cancelled", "stopped");
  let taken = false;
  const again = runs.take(RUN.id).then(() => {
    taken = true;
  });
  await vi.advanceTimersByTimeAsync(0);
  expect({ taken, owned: own.has(RUN.id), state: kept.get(RUN.id)?.state }).toEqual({
    ...{ taken: false, owned: true, state: "starting" },
  });
  writing.resolve();
  await again;
  expect(kept.get(RUN.id)).toMatchObject({ state: "cancelled", message: "stopped", plan: { seed: 2 } });
});

it("a run of another tab is not taken", async () => {
  elsewhere.add(RUN.id);
  await expect(runs.take(RUN.id)).rejects.toThrow(InputError);
});

it("what cannot be written is lost alone: later writing goes on", async () => {
  vi.mocked(archive.keepRun).mockRejectedValueOnce(new Error("no room"));
  await runs.take(RUN.id);
  runs.begin(RUN, {});
  runs.end(RUN.id, "done", null);
  await until(() => expect(own.has(RUN.id)).toBe(false));
  expect(kept.get(RUN.id)?.state).toBe("done");
});

it("writes a run that goes on at most each three seconds", async () => {
  runs.begin(RUN, {});
  runs.note(RUN.id);
  vi.advanceTimersByTime(2999);
  runs.note(RUN.id);
  await vi.advanceTimersByTimeAsync(0);
  expect(archive.keepRun).toHaveBeenCalledTimes(1);
  vi.advanceTimersByTime(2);
  runs.note(RUN.id);
  await vi.advanceTimersByTimeAsync(0);
  expect(archive.keepRun).toHaveBeenCalledTimes(2);
});

it("a run that is taken away while it is written does not come back", async () => {
  const writing = new Pending();
  runs.begin(RUN, {});
  await runs.keepPlan(RUN.id, {});
  vi.mocked(archive.keepRun).mockImplementationOnce((run) =>
    writing.promise.then(() => kept.set(run.id, run)),
  );
  runs.end(RUN.id, "done", null);
  await vi.advanceTimersByTimeAsync(0);
  const removed = runs.remove(RUN.id);
  await vi.advanceTimersByTimeAsync(0);
  writing.resolve();
  await removed;
  expect(kept.has(RUN.id)).toBe(false);
  expect(getRuns().runs).toEqual({});
});

it("after a reload a run that went on is lost, unless another tab has it; it goes on with the plan that was kept", async () => {
  const keep = (id: string, state: Run["state"]): void => {
    const { figures: _figures, stream: _stream, ...run } = newRun({ ...RUN, id, where: "page", state });
    kept.set(id, { ...run, plan: { seed: 7 } });
  };
  for (const id of ["with-checkpoint", "without", "other-tab"]) keep(id, "running");
  keep("ended", "done");
  elsewhere.add("other-tab");
  await runs.restore();
  expect(getRuns()).toMatchObject({
    restored: true,
    runs: {
      "with-checkpoint": {
        ...{ state: "lost", stream: "closed", message: expect.stringContaining("last checkpoint") },
      },
      without: { state: "lost", message: expect.stringContaining("before its first checkpoint") },
      "other-tab": { state: "running", stream: "other-tab" },
      ended: { state: "done", stream: "closed", figures: NO_FIGURES },
    },
  });
  expect(await runs.planOf("with-checkpoint")).toEqual({ seed: 7 });
  expect(await runs.planOf("unknown")).toBeNull();
  expect(archive.sweepFiles).toHaveBeenCalledOnce();
});
