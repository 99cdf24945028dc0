import { afterEach, beforeEach, expect, it, vi } from "vitest";
import { fake, Pending, until } from "../../../../test/support/fake.ts";
import type { KeptLiveRun, LiveOutcome } from "../../compute/runs/live-run.ts";
import { type LiveRun, liveRunOf, putLiveRun, useLiveRuns } from "./live-runs-store.ts";
import { TabLiveRuns } from "./tab-live-runs.ts";

type Clients = ConstructorParameters<typeof TabLiveRuns>[0];
type Message = Parameters<Clients["channel"]["tell"]>[0];

const ID = "collect-1";
const KEPT: KeptLiveRun = {
  ...{ id: ID, ids: [], message: null, state: "running", created: "2026-01-02T03:04:05.678Z" },
  plan: {
    ...{ kind: "collect", role: "student", environment: "alfworld", tasks: ["a"], at_once: 1 },
    ...{ repetitions: 1, planner: false },
  },
  model: { name: "tiny", digest: "" },
};
const OUTCOME: LiveOutcome = { task: "a", type: null, seed: 0, success: true, score: null, decisions: 1 };
const present = (over: Partial<LiveRun> = {}): LiveRun => ({
  ...{ ...KEPT, outcomes: new Map(), share: 0, since: null, kept: true, endedNow: false, elsewhere: false },
  ...over,
});

/** What the browser kept, the runs that this tab and others own, and those whose end is waited for. */
let kept: Map<string, KeptLiveRun>;
let own: string[];
let elsewhere: string[];
let free: Map<string, Pending>;
let told: Message[];
let hear: ((message: unknown) => void) | null;
let archive: Clients["archive"];
let tabs: TabLiveRuns;
let leave: () => void;

beforeEach(() => {
  [kept, own, elsewhere, free, told, hear] = [new Map(), [], [], new Map(), [], null];
  archive = fake<Clients["archive"]>({
    keptLiveRun: vi.fn(async (id) => kept.get(id)),
    keptLiveRuns: vi.fn(async () => [...kept.values()]),
    keptOutcomes: async () => new Map([["e", OUTCOME]]),
  });
  tabs = new TabLiveRuns({
    archive,
    locks: fake<Clients["locks"]>({
      ownHere: () => own,
      ownedRuns: async () => new Set([...own, ...elsewhere]),
      whenFree: (id) => {
        free.set(id, new Pending());
        return free.get(id)!.promise;
      },
    }),
    channel: {
      hear: (listener) => {
        hear = listener as typeof hear;
        return () => {
          hear = null;
        };
      },
      tell: (message) => void told.push(message),
    },
  });
  leave = tabs.follow();
});
afterEach(() => {
  leave();
  useLiveRuns.setState(useLiveRuns.getInitialState());
});

/** A run as another tab tells it. */
function toldRun(over: Partial<LiveRun> = {}): unknown {
  const { endedNow: _, elsewhere: __, ...run } = present(over);
  return { type: "run", run };
}

it("says hello, and tells a tab that was opened what this one plays, and no more than that", () => {
  expect(told).toEqual([{ type: "hello" }]);
  putLiveRun(present());
  putLiveRun(present({ id: "of-another" }));
  own = [ID];
  hear!({ type: "hello" });
  expect(told.slice(1)).toEqual([toldRun()]);
  leave();
  expect(hear).toBeNull();
});

it("records stay in the tab that played them", () => {
  tabs.tellEvent(ID, { type: "ended", episode: "e", outcome: OUTCOME, unkept: { decisions: [] } });
  tabs.tellEvent(ID, { type: "ended", episode: "e", outcome: OUTCOME, unkept: null });
  tabs.tellRemoved(ID);
  const event = { type: "ended", episode: "e", outcome: OUTCOME };
  expect(told.slice(1)).toEqual([
    { type: "event", id: ID, event: { ...event, unkept: {} } },
    { type: "event", id: ID, event: { ...event, unkept: null } },
    { type: "removed", id: ID },
  ]);
});

it("shows a run of another tab as it goes, and once it is free what was written down", async () => {
  hear!(toldRun());
  hear!({ type: "event", id: ID, event: { type: "played", share: 0.5 } });
  expect(liveRunOf(ID)).toMatchObject({ elsewhere: true, share: 0.5, state: "running" });
  kept.set(ID, { ...KEPT, state: "done" });
  free.get(ID)!.resolve();
  await until(() => expect(liveRunOf(ID)).toMatchObject({ elsewhere: false, state: "done" }));
  expect(liveRunOf(ID)!.outcomes.size).toBe(1);
});

it("a run whose tab is gone was lost with it; one that nothing is kept of is gone too", async () => {
  kept.set(ID, KEPT);
  hear!(toldRun());
  hear!(toldRun({ id: "collect-2" }));
  for (const waiting of free.values()) waiting.resolve();
  await until(() => expect(liveRunOf("collect-2")).toBeUndefined());
  await until(() => expect(liveRunOf(ID)).toMatchObject({ elsewhere: false, state: "lost" }));
});

it("what was written down of a run is dropped where it goes on meanwhile, or was taken away", async () => {
  const reading = new Pending<KeptLiveRun | undefined>();
  vi.mocked(archive.keptLiveRun).mockImplementation(() => reading.promise);
  hear!(toldRun());
  hear!(toldRun({ id: "collect-2" }));
  for (const waiting of [...free.values()]) waiting.resolve();
  await until(() => expect(archive.keptLiveRun).toHaveBeenCalledTimes(2));
  hear!(toldRun({ share: 0.7 }));
  hear!({ type: "removed", id: "collect-2" });
  reading.resolve({ ...KEPT, state: "done" });
  await new Promise((resolve) => setTimeout(resolve));
  expect(Object.values(useLiveRuns.getState().runs)).toMatchObject([
    { id: ID, elsewhere: true, share: 0.7, state: "running" },
  ]);
});

it("leaves its own runs to itself, and passes over what it cannot read", () => {
  own = [ID];
  putLiveRun(present({ share: 0.3 }));
  hear!(toldRun({ share: 0.9 }));
  hear!({ type: "event", id: ID, event: { type: "played", share: 0.9 } });
  hear!({ type: "of a newer version" });
  hear!(null);
  expect(liveRunOf(ID)).toMatchObject({ share: 0.3, elsewhere: false });
});

it("reads the runs of earlier visits once: those that went on are lost, or with another tab", async () => {
  kept.set(ID, KEPT);
  kept.set("collect-2", { ...KEPT, id: "collect-2" });
  kept.set("collect-3", { ...KEPT, id: "collect-3", state: "done" });
  elsewhere = ["collect-2"];
  await Promise.all([tabs.restore(), tabs.restore()]);
  expect(archive.keptLiveRuns).toHaveBeenCalledOnce();
  expect(useLiveRuns.getState().runs).toMatchObject({
    [ID]: { state: "lost", elsewhere: false },
    "collect-2": { state: "running", elsewhere: true },
    "collect-3": { state: "done", elsewhere: false },
  });
});

it("an empty list is shown where the browser keeps nothing, and a run that is here already stays", async () => {
  vi.mocked(archive.keptLiveRuns).mockRejectedValueOnce(new Error("a private window"));
  await tabs.restore();
  expect(useLiveRuns.getState()).toMatchObject({ restored: true, runs: {} });
  useLiveRuns.setState({ restored: false });
  kept.set(ID, KEPT);
  putLiveRun(present({ share: 0.3 }));
  await tabs.restore();
  expect(liveRunOf(ID)).toMatchObject({ share: 0.3, state: "running" });
});
