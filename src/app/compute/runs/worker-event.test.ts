import fc from "fast-check";
import { beforeEach, describe, expect, it } from "vitest";
import type { TrainEvent } from "../../../core/loop/events.ts";
import { eventData } from "../../../worker/job/event-data.ts";
import { Inbox, take } from "./inbox.ts";
import { isLoopEvent } from "./loop-event.ts";
import { getRuns, newRun, putRun } from "./runs-store.ts";
import { readWorkerEvent } from "./worker-event.ts";

const AT = "2026-01-02T03:04:05.678Z";
const ID = "train-00000000000a";
const at = { step: 1, stage: 0, epoch: 0, batch: 0 };
const info = {
  model: "m",
  device: "cpu",
  adapter: "plain TypeScript",
  dtype: "f32",
  parameters: null,
  vocabulary: 9,
} as const;
const metrics = {
  loss: 0.5,
  gradNorm: 1,
  episodes: 1,
  decisions: 1,
  tokens: 10,
  sequenceTokens: 20,
  clipFraction: 0,
  meanAdvantage: 0,
  meanAbsoluteAdvantage: 0,
  meanLogprob: -1,
  meanTeacherLogprob: -1,
  alignment: 0,
  rolloutKl: 0,
};
/** One of each kind that the loop tells. */
const EVENTS: readonly TrainEvent[] = [
  {
    type: "start",
    method: "opd",
    units: 1,
    unit: "episode",
    batchSize: 1,
    steps: 2,
    teacher: info,
    student: info,
    parent: null,
    resumedFrom: null,
  },
  { type: "stage", stage: 0, name: "vanilla", epochs: 1, evidence: { kind: "none" } },
  { type: "epoch", stage: 0, epoch: 0, batches: 2, repeating: 0 },
  { type: "step", ...at, units: ["e"], repeatedTasks: 0, batches: 2 },
  { type: "rollout", ...at, episodes: 1, decisions: 2, successes: 0, ended: {} },
  {
    type: "scored",
    ...at,
    decisions: 1,
    tokens: 10,
    contextTokens: 99,
    successReferences: 0,
    failureReferences: 0,
    backReferences: 0,
    cutPrompts: 0,
    rolloutPolicy: "recorded",
    seconds: 1,
  },
  { type: "updated", ...at, metrics, seconds: 2, tokensPerSecond: 5 },
  { type: "checkpoint", ...at },
  {
    type: "evaluated",
    ...{
      step: 1,
      seconds: 3,
      tasks: 1,
      seeds: [0],
      score: null,
      technical: [{ task: "t", seed: 0, reason: "r" }],
    },
    ...{ sr: { mean: 100, sd: null }, sr_interval: [100, 100], rounds: { mean: 3, sd: null } },
    ...{
      per_seed: [{ seed: 0, sr: 100, score: null, rounds: 3 }],
      per_type: {},
      pass_at_k: 100,
      score_at_k: null,
    },
  },
  { type: "fault", step: 1, fault: "lost", message: "gone", attempt: 1, attempts: 3 },
  { type: "stopped", step: 1, steps: 2, seconds: 3 },
  { type: "done", step: 2, seconds: 4 },
];
/** As the worker sends what a command printed, and a change of the job's state. */
const sent = (event: object, type: "progress" | "state" = "progress"): string =>
  JSON.stringify(eventData({ type, data: { ...event }, attempt: 4, at: AT }));
const run = () => getRuns().runs[ID]!;

beforeEach(() => putRun(newRun({ id: ID, where: "worker", title: "", config: {} })));

describe("events of the worker", () => {
  it.each(EVENTS)("reads a $type event, and keeps all of it", (event) => {
    expect(readWorkerEvent("progress", sent(event))).toEqual({ type: "progress", event, at: AT });
  });

  it("reads a fault of an earlier worker, whose attempt is covered by the job's", () => {
    const { attempt: _covered, ...kept } = { attempt: 0, ...EVENTS[9]! };
    const text = JSON.stringify({ ...EVENTS[9]!, attempt: 4, at: AT });
    expect(readWorkerEvent("progress", text)).toEqual({ type: "progress", event: kept, at: AT });
  });

  it("knows every kind of event that the loop has", () => {
    const kinds = new Set<TrainEvent["type"]>(EVENTS.map(({ type }) => type));
    expect(kinds.size).toBe(EVENTS.length);
    expect(EVENTS.every((event) => isLoopEvent({ ...event }))).toBe(true);
  });

  it("passes over an object that a command printed and that is not an event", () => {
    expect(readWorkerEvent("progress", sent({ step: 3 }))).toEqual({ type: "progress", event: null, at: AT });
  });

  it.each([
    ["state", { state: "asleep", message: null }, /^state, key “state”: /],
    ["state", { state: "done", message: 3 }, /^state, key “message”: /],
    [
      "progress",
      { type: "updated", ...at, metrics: { ...metrics, loss: "low" } },
      /^“updated” event, key “metrics\.loss”: /,
    ],
    ["progress", { type: "done" }, /^“done” event, key “step”: /],
    ["progress", { type: "dreamt", step: 1 }, /^“dreamt” event, key “type”: /],
  ] as const)("says what is wrong with a %s event", (type, event, problem) => {
    expect(readWorkerEvent(type, sent(event, type))).toEqual({ problem: expect.stringMatching(problem) });
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
});
