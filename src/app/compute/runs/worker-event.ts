/** Events of a job as the worker's API sends them (docs/worker.md): checked as they come in. */
import { z } from "zod";
import { isLoopEvent, type LoopEvent, loopEventProblem } from "./loop-event.ts";
import { RUN_STATES, type RunState } from "./run.ts";

const stamp = z.object({ at: z.iso.datetime() });
const stateEvent = stamp.extend({
  state: z.enum(RUN_STATES),
  message: z
    .string()
    .nullish()
    .transform((message) => message ?? null),
});
const object = z.record(z.string(), z.unknown());

export type WorkerEvent =
  | { type: "state"; state: RunState; message: string | null; at: string }
  /** `event` is null where the command printed an object that is not an event. */
  | { type: "progress"; event: LoopEvent | null; at: string };

function problemOf(kind: string, error: z.ZodError): { problem: string } {
  const [issue] = error.issues;
  const key = issue?.path.join(".") ?? "";
  return {
    problem: `${kind}${key === "" ? "" : `, key “${key}”`}: ${issue?.message ?? "not the expected form"}`,
  };
}

/**
 * The object as the command printed it: what stands beside the job's attempt and the time; whole under `printed` where
 * it has one of these keys itself, as a fault's `attempt`. Workers of an earlier version did not give that.
 */
function printedOf({ attempt: _attempt, at: _at, printed, ...rest }: Record<string, unknown>) {
  return object.safeParse(printed).data ?? rest;
}

/** Reads the data of one event; what is wrong with it, at its first key, where it has not the form. */
export function readWorkerEvent(type: "state" | "progress", text: string): WorkerEvent | { problem: string } {
  let data: unknown;
  try {
    data = JSON.parse(text);
  } catch {
    return { problem: `${type}: expected JSON` };
  }
  if (type === "state") {
    const state = stateEvent.safeParse(data);
    return state.success ? { type, ...state.data } : problemOf(type, state.error);
  }
  const stamped = stamp.safeParse(data);
  if (!stamped.success) return problemOf(type, stamped.error);
  const { at } = stamped.data;
  const event = printedOf(object.parse(data));
  if (typeof event.type !== "string") return { type, event: null, at };
  if (!isLoopEvent(event)) return { problem: loopEventProblem(event) ?? "not an event of the loop" };
  return { type, event, at };
}
