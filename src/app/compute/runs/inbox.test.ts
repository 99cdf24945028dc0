import { beforeEach, expect, it } from "vitest";
import { nextTask } from "../../base/next-task.ts";
import { Inbox } from "./inbox.ts";
import { getRuns, newRun, putRun } from "./runs-store.ts";

const ID = "train-000000000000";
const COUNT = 60;
const checkpoint = (step: number) => ({
  event: "progress",
  data: JSON.stringify({ type: "checkpoint", step, attempt: 1, at: "2026-01-01T00:00:00.000Z" }),
});
const steps = (): unknown[] =>
  getRuns().runs[ID]!.events.map((event) => (event.type === "checkpoint" ? event.step : event.type));

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
