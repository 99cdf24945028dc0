/** A job's events: as the worker keeps them, as its stream gives them (docs/worker.md), and as they are read from it. */
import { z } from "zod";
import { JOB_STATES, type JobState } from "./job-state.ts";
import { type LoopEvent, readLoopEvent, whatIsWrong } from "./loop-event.ts";

/** One thing that happened to a job. Ids increase over all jobs and are never given twice. */
export interface JobEvent {
  id: number;
  job: string;
  attempt: number;
  at: string;
  /** `state`: it changed its state; `progress`: an object the command printed; `output`: any other line. */
  type: "state" | "progress" | "output";
  /** Its data, an object, in JSON. */
  text: string;
}

/** Keys of the data that the stream itself sets. */
const OWN_KEYS = ["attempt", "at", "printed"] as const;
/** Finds them at any depth, and where they are written with escapes. */
const MAY_HAVE_OWN_KEYS = /"(attempt|at|printed)"|\\u/;

/**
 * The data of one event as the stream gives it, in JSON: its own keys beside the job's `attempt` and the time `at`. An
 * object that a command printed may have one of these keys itself (a `fault` counts its attempts, too): it then stands
 * whole under `printed` as well. Only what may have them is parsed.
 */
export function eventText({ type, text, attempt, at }: Omit<JobEvent, "id" | "job">): string {
  if (type === "progress" && MAY_HAVE_OWN_KEYS.test(text)) {
    const data = JSON.parse(text) as Record<string, unknown>;
    const covered = OWN_KEYS.some((key) => Object.hasOwn(data, key));
    return JSON.stringify({ ...data, ...(covered ? { printed: data } : {}), attempt, at });
  }
  const own = JSON.stringify({ attempt, at }).slice(1);
  return /^\{\s*\}$/.test(text) ? `{${own}` : `${text.slice(0, -1)},${own}`;
}

const stamp = z.object({ at: z.iso.datetime() });
const stateEvent = stamp.extend({
  state: z.enum(JOB_STATES),
  message: z
    .string()
    .nullish()
    .transform((message) => message ?? null),
});
const object = z.record(z.string(), z.unknown());

/** A job's event as it was read from the stream. */
export type ReadEvent =
  | { type: "state"; state: JobState; message: string | null; at: string }
  /** `event` is null where the command printed an object that is not an event. */
  | { type: "progress"; event: LoopEvent | null; at: string };

/**
 * The object as the command printed it: what stands beside the job's attempt and the time; whole under `printed` where
 * it has one of these keys itself, as a fault's `attempt`. Workers of an earlier version did not give that.
 */
function printedOf({ attempt: _attempt, at: _at, printed, ...rest }: Record<string, unknown>) {
  return object.safeParse(printed).data ?? rest;
}

/** Reads the data of one event; one that does not have the form is refused at its first key. */
export function readJobEvent(type: "state" | "progress", text: string): ReadEvent | { problem: string } {
  let data: unknown;
  try {
    data = JSON.parse(text);
  } catch {
    return { problem: `${type}: expected JSON` };
  }
  if (type === "state") {
    const state = stateEvent.safeParse(data);
    return state.success ? { type, ...state.data } : { problem: whatIsWrong(type, state.error) };
  }
  const stamped = stamp.safeParse(data);
  if (!stamped.success) return { problem: whatIsWrong(type, stamped.error) };
  const event = readLoopEvent(printedOf(object.parse(data)));
  return event !== null && "problem" in event ? event : { type, event, at: stamped.data.at };
}
