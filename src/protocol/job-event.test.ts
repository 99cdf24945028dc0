import { expect, it } from "vitest";
import { AT, EVENTS, metrics, sent } from "../../test/support/train-events.ts";
import type { TrainEvent } from "../core/loop/events.ts";
import { eventText, readJobEvent } from "./job-event.ts";
import { loopEventProblem } from "./loop-event.ts";

it.each(EVENTS)("reads a $type event, and keeps all of it", (event) => {
  expect(readJobEvent("progress", sent(event))).toEqual({ type: "progress", event, at: AT });
});

it("reads a fault of an earlier worker, whose attempt is covered by the job's", () => {
  const { attempt: _covered, ...kept } = { attempt: 0, ...EVENTS[9]! };
  const text = JSON.stringify({ ...EVENTS[9]!, attempt: 4, at: AT });
  expect(readJobEvent("progress", text)).toEqual({ type: "progress", event: kept, at: AT });
});

it("knows every kind of event that the loop has", () => {
  const kinds = new Set<TrainEvent["type"]>(EVENTS.map(({ type }) => type));
  expect(kinds.size).toBe(EVENTS.length);
  expect(EVENTS.every((event) => loopEventProblem({ ...event }) === null)).toBe(true);
});

it("passes over an object that a command printed and that is not an event", () => {
  expect(readJobEvent("progress", sent({ step: 3 }))).toEqual({ type: "progress", event: null, at: AT });
});

it.each([
  ["state", { state: "asleep", message: null }, /^state, key “state”: /],
  ["state", { state: "done", message: 3 }, /^state, key “message”: /],
  [
    "progress",
    { ...EVENTS[6]!, metrics: { ...metrics, loss: "low" } },
    /^“updated” event, key “metrics\.loss”: /,
  ],
  ["progress", { type: "done" }, /^“done” event, key “step”: /],
  ["progress", { type: "dreamt", step: 1 }, /^“dreamt” event, key “type”: /],
] as const)("says what is wrong with a %s event", (type, event, problem) => {
  expect(readJobEvent(type, sent(event, type))).toEqual({ problem: expect.stringMatching(problem) });
});

it.each([
  ["{}", {}],
  ["{ }", {}],
  ['{"step": 1}', { step: 1 }],
  ['{"action":"at","in":{"attempt":2}}', { action: "at", in: { attempt: 2 } }],
  ['{"attempt":2}', { printed: { attempt: 2 } }],
  ['{"\\u0061t":3,"step":1}', { step: 1, printed: { at: 3, step: 1 } }],
])("gives %s beside the job's attempt, and whole where it has such keys", (text, given) => {
  const data = { ...given, attempt: 4, at: AT };
  expect(JSON.parse(eventText({ type: "progress", text, attempt: 4, at: AT }))).toEqual(data);
});
