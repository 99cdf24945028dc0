import { afterEach, beforeEach, expect, it, vi } from "vitest";
import { fake, Pending, until } from "../../../../test/support/fake.ts";
import { AT } from "../../../../test/support/train-events.ts";
import { getUi, setUi, useUi } from "../store.ts";
import type { Run } from "./run.ts";
import { dropRun, getRuns, newRun, patchRun, putRun, takeEvent, useRuns } from "./runs-store.ts";
import type { TabMessage } from "./tab-channel.ts";
import { TabRuns } from "./tab-runs.ts";

type Clients = ConstructorParameters<typeof TabRuns>[0];

const ID = "page-1";

/** The runs that this tab owns, those whose end is waited for, and what the browser kept of a run. */
let own: string[];
let free: Map<string, Pending>;
let kept: Run | null;
let restored: Pending;
let told: TabMessage[];
let hear: ((message: TabMessage) => void) | null;
let runs: Clients["runs"];
let tabs: TabRuns;
let leave: () => void;

beforeEach(() => {
  [own, free, kept, told, hear] = [[], new Map(), null, [], null];
  restored = new Pending();
  runs = fake<Clients["runs"]>({
    readKept: vi.fn(async () => kept),
    restore: () => restored.promise,
    rename: vi.fn(async () => undefined),
  });
  tabs = new TabRuns({
    runs,
    locks: fake<Clients["locks"]>({
      ownHere: () => own,
      whenFree: (id, signal) => {
        const waiting = new Pending();
        free.set(id, waiting);
        signal?.addEventListener("abort", () => waiting.reject(signal.reason));
        return waiting.promise;
      },
    }),
    hearTabs: (listener) => {
      hear = listener;
      return () => {
        hear = null;
      };
    },
    tellTabs: (message) => void told.push(message),
  });
  leave = tabs.follow(onAsk);
});
afterEach(() => {
  leave();
  onAsk.mockReset();
  useRuns.setState(useRuns.getInitialState());
  useUi.setState(useUi.getInitialState());
});

const onAsk = vi.fn();
const run = () => getRuns().runs[ID];
const newPageRun = (over: Partial<Run> = {}): Run =>
  newRun({ id: ID, where: "page", title: "first", config: {}, state: "running", ...over });
const checkpoint = (step: number) => ({ type: "checkpoint", step }) as const;

/** A run as another tab tells it. */
function toldRun(over: Partial<Run> = {}): Extract<TabMessage, { type: "run" }> {
  const { figures: _, stream: __, ...rest } = newPageRun(over);
  return { type: "run", run: rest };
}
const more = (over: Partial<Extract<TabMessage, { type: "more" }>> = {}): TabMessage => ({
  ...{ type: "more", id: ID, events: [], work: null },
  facts: { state: "running", message: null, ended: null, title: "first" },
  ...over,
});

it("tells a run of this tab whole once, then what came since, and again to a tab that was opened", () => {
  own = [ID];
  putRun(newPageRun());
  takeEvent(ID, checkpoint(1), AT);
  patchRun(ID, { state: "done" });
  expect(told).toMatchObject([
    { type: "run", run: { id: ID, events: [] } },
    { type: "more", id: ID, events: [{ type: "checkpoint", step: 1 }] },
    { type: "more", id: ID, events: [], facts: { state: "done" } },
  ]);
  told = [];
  putRun(newPageRun({ id: "page-of-another" }));
  expect(told).toEqual([]);
  hear!({ type: "hello" });
  expect(told).toMatchObject([{ type: "run", run: { id: ID, events: [{ step: 1 }] } }]);
});

it("shows a run of another tab as it goes, and once it is free what its owner wrote down", async () => {
  hear!(toldRun());
  hear!(more({ events: [{ ...checkpoint(2), time: AT }] }));
  expect(run()).toMatchObject({ stream: "other-tab", events: [checkpoint(2)] });
  kept = newPageRun({ state: "done" });
  free.get(ID)!.resolve();
  await until(() => expect(run()).toMatchObject({ state: "done", stream: "closed" }));
  expect(told).toEqual([]);
});

it("what was said of a run's end is gone when it goes on in another tab", () => {
  const say = (run: string) =>
    setUi(({ training }) => ({
      training: { ...training, run, message: { kind: "info", text: "Stopped after 1 of 2 steps." } },
    }));
  say("page-2");
  hear!(toldRun());
  expect(getUi().training.message).not.toBeNull();
  say(ID);
  hear!(toldRun());
  expect(getUi().training.message).toBeNull();
});

it("a run whose tab is gone and that the browser did not keep is lost", async () => {
  hear!(toldRun());
  free.get(ID)!.resolve();
  await until(() => expect(run()).toMatchObject({ state: "lost", stream: "closed" }));
});

it("what was written down of a run is dropped where it goes on meanwhile, or was taken away", async () => {
  const reading = new Pending<Run | null>();
  vi.mocked(runs.readKept).mockImplementation(() => reading.promise);
  hear!(toldRun());
  hear!(toldRun({ id: "page-2" }));
  for (const waiting of [...free.values()]) waiting.resolve();
  await until(() => expect(runs.readKept).toHaveBeenCalledTimes(2));
  hear!(toldRun({ title: "again" }));
  hear!({ type: "removed", id: "page-2" });
  reading.resolve(newPageRun({ state: "done" }));
  await reading.promise;
  await Promise.resolve();
  expect(Object.keys(getRuns().runs)).toEqual([ID]);
  expect(run()).toMatchObject({ title: "again", state: "running", stream: "other-tab" });
});

it("what is told of a run that is not followed is not taken", () => {
  putRun(newPageRun({ state: "done" }));
  hear!(more());
  expect(run()).toMatchObject({ state: "done", stream: "closed" });
});

it("the tab that has a run ends it and keeps its name when another one asks", () => {
  putRun(newPageRun());
  hear!({ type: "ask", id: ID, what: "stop" });
  hear!({ type: "title", id: ID, title: "second" });
  expect(onAsk).not.toHaveBeenCalled();
  expect(runs.rename).not.toHaveBeenCalled();
  own = [ID];
  hear!({ type: "ask", id: ID, what: "cancel" });
  hear!({ type: "title", id: ID, title: "third" });
  expect(onAsk.mock.calls).toEqual([[ID, "cancel"]]);
  expect(runs.rename).toHaveBeenCalledExactlyOnceWith(ID, "third");
  expect(run()!.title).toBe("third");
});

it("says hello and follows what other tabs have once earlier visits were read, unless it was left", async () => {
  putRun(newPageRun({ stream: "other-tab" }));
  restored.resolve();
  await until(() => expect(told).toEqual([{ type: "hello" }]));
  expect([...free.keys()]).toEqual([ID]);
  leave();
  restored = new Pending();
  told = [];
  leave = tabs.follow(onAsk);
  leave();
  restored.resolve();
  await restored.promise;
  await Promise.resolve();
  expect(told).toEqual([]);
});

it("once it is left, it hears and tells nothing, and waits for no run", async () => {
  hear!(toldRun());
  const waiting = free.get(ID)!;
  leave();
  await expect(waiting.promise).rejects.toThrow();
  expect(hear).toBeNull();
  own = [ID];
  patchRun(ID, { title: "second" });
  expect(told).toEqual([]);
  // It is waited for again when the tabs are followed again.
  leave = tabs.follow(onAsk);
  hear!(toldRun());
  expect(free.get(ID)).not.toBe(waiting);
});

it("a run that goes on after its end is told whole: the others do not follow it any more", () => {
  own = [ID];
  putRun(newPageRun({ events: [{ time: AT, ...checkpoint(1) }] }));
  patchRun(ID, { state: "cancelled" });
  told = [];
  patchRun(ID, { state: "starting" });
  expect(told).toMatchObject([{ type: "run", run: { id: ID, state: "starting", events: [{ step: 1 }] } }]);
});

it("a run that is taken away and comes back under its id is told whole", () => {
  own = [ID];
  putRun(newPageRun());
  dropRun(ID);
  told = [];
  putRun(newPageRun());
  expect(told).toMatchObject([{ type: "run" }]);
});
