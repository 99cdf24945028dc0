import { beforeEach, expect, it } from "vitest";
import fc from "../../../../../test/support/property.ts";
import { AT, EVENTS, metrics, sent } from "../../../../../test/support/train-events.ts";
import { nextTask } from "../../../base/next-task.ts";
import { getRuns, newRun, putRun } from "../runs-store.ts";
import { Inbox, take } from "./inbox.ts";

const ID = "train-000000000000";
const COUNT = 60;
const checkpoint = (step: number) => ({
  event: "progress",
  data: JSON.stringify({ type: "checkpoint", step, attempt: 1, at: "2026-01-01T00:00:00.000Z" }),
});
const run = () => getRuns().runs[ID]!;
const steps = (): unknown[] =>
  run().events.map((event) => (event.type === "checkpoint" ? event.step : event.type));

beforeEach(() => putRun(newRun({ id: ID, where: "worker", title: "", config: {} })));

it("takes all events in their order, and gives the thread back in between", async () => {
  const inbox = new Inbox(ID, new AbortController().signal, 0);
  for (let step = 0; step < COUNT; step++) inbox.put(checkpoint(step));
  let others = 0;
  let emptied = false;
  const elsewhere = (async () => {
    for (; !emptied; others++) await nextTask();
  })();
  await inbox.emptied();
  emptied = true;
  await elsewhere;
  expect(steps()).toEqual(Array.from({ length: COUNT }, (_, step) => step));
  expect(others).toBeGreaterThan(COUNT / 4);
  // It is there for what comes later.
  inbox.put(checkpoint(COUNT));
  await inbox.emptied();
  expect(steps()).toHaveLength(COUNT + 1);
});

it("leaves what it has not taken when nobody follows the run any more", async () => {
  const controller = new AbortController();
  const inbox = new Inbox(ID, controller.signal, 0);
  for (let step = 0; step < COUNT; step++) inbox.put(checkpoint(step));
  controller.abort();
  await inbox.emptied();
  expect(steps()).toEqual([]);
});

it("says it once in the run, and goes on with the events that it can read", () => {
  for (const event of [EVENTS[0]!, { type: "updated", step: 1 }, { type: "dreamt" }, EVENTS[6]!])
    take(ID, { event: "progress", data: sent(event) });
  take(ID, { event: "state", data: "{" });
  take(ID, { event: "output", data: "not JSON" });
  take(ID, { event: "state", data: sent({ state: "done", message: null }, "state") });
  expect(run()).toMatchObject({ state: "done", ended: AT, figures: { done: 1 } });
  expect(run().figures.marks).toEqual([
    { step: 0, kind: "unread", text: expect.stringContaining("“updated” event, key “stage”"), at: null },
  ]);
  expect(run().events.map(({ type }) => type)).toEqual(["start", "updated"]);
});

it("keeps when and what befell the job: its device, its files, the end of an attempt", async () => {
  const inbox = new Inbox(ID, new AbortController().signal);
  const minute = (n: number) => `2026-01-02T03:0${n}:00.000Z`;
  const state = (n: number, now: string, message: string | null = null) =>
    inbox.put({
      event: "state",
      data: JSON.stringify({ state: now, message, attempt: 1, at: minute(n) }),
    });
  state(0, "queued");
  state(0, "starting");
  state(1, "running");
  inbox.put({ event: "progress", data: sent(EVENTS[0]!) });
  inbox.put({ event: "progress", data: sent(EVENTS[6]!) });
  inbox.put({ event: "progress", data: sent(EVENTS[9]!) });
  state(2, "running", "its output cannot be read now: EIO; it is tried again");
  state(3, "running");
  state(4, "lost", "ended by SIGKILL");
  state(4, "queued", "it goes on by itself");
  state(5, "starting");
  state(6, "running");
  state(7, "failed", "bad input");
  await inbox.emptied();
  expect(run()).toMatchObject({ state: "failed", message: "bad input", ended: minute(7) });
  expect(run().figures.marks).toEqual([
    { step: 1, kind: "fault", at: AT, text: "device failed (1 of 3): gone" },
    {
      step: 1,
      kind: "fault",
      at: minute(2),
      text: "its output cannot be read now: EIO; it is tried again",
    },
    { step: 1, kind: "fault", at: minute(4), text: "lost: ended by SIGKILL" },
  ]);
});

it("takes a figure that is not a number for one that cannot be drawn", () => {
  take(ID, {
    event: "progress",
    data: sent({ ...EVENTS[6]!, metrics: { ...metrics, gradNorm: Number.NaN } }),
  });
  expect(run().figures.points[0]).toMatchObject({ loss: 0.5, gradNorm: Number.NaN });
});

it("never throws, whatever is sent", () => {
  fc.assert(
    fc.property(fc.constantFrom("state", "progress", "output", ""), fc.json(), (event, data) => {
      take(ID, { event, data });
      expect(run().figures.points).toBeInstanceOf(Array);
    }),
  );
});
