/** A job's event as the stream gives it. */
import type { JobEvent } from "./job.ts";

/** Keys of the data that the stream itself sets. */
const OWN_KEYS = ["attempt", "at", "printed"] as const;

/**
 * The data of one event: its own keys beside the job's `attempt` and the time `at`. An object that a command printed may
 * have one of these keys itself (a `fault` counts its attempts, too): it then stands whole under `printed` as well.
 */
export function eventData({
  type,
  data,
  attempt,
  at,
}: Omit<JobEvent, "id" | "job">): Record<string, unknown> {
  const covered = type === "progress" && OWN_KEYS.some((key) => Object.hasOwn(data, key));
  return { ...data, ...(covered ? { printed: data } : {}), attempt, at };
}
