/** What Kubernetes says of an attempt: its Job, its pod and their events, as `kubectl get -o json` prints them. */
import { z } from "zod";
import type { Queued } from "./folder-launcher.ts";

const conditionSchema = z.looseObject({
  type: z.string(),
  status: z.string(),
  reason: z.string().nullish(),
  message: z.string().nullish(),
});
const toldSchema = z.looseObject({ reason: z.string().nullish(), message: z.string().nullish() });

const metadataSchema = z.looseObject({ name: z.string(), deletionTimestamp: z.string().nullish() });

export const podSchema = z.looseObject({
  kind: z.string(),
  metadata: metadataSchema,
  status: z
    .looseObject({
      /** Of a pod; a Job has none. */
      phase: z.string().optional(),
      reason: z.string().nullish(),
      message: z.string().nullish(),
      conditions: z.array(conditionSchema).nullish(),
      containerStatuses: z
        .array(
          z.looseObject({
            state: z
              .looseObject({
                waiting: toldSchema.optional(),
                terminated: toldSchema.extend({ exitCode: z.number().optional() }).optional(),
              })
              .optional(),
          }),
        )
        .nullish(),
    })
    .optional(),
});
/** A pod or a Job. */
export type Item = z.infer<typeof podSchema>;

export const listSchema = z.looseObject({ items: z.array(podSchema) });
export const eventsSchema = z.looseObject({
  items: z.array(
    z.looseObject({
      type: z.string().nullish(),
      reason: z.string().nullish(),
      message: z.string().nullish(),
    }),
  ),
});

/**
 * What a Job and its pods say of an attempt.
 *
 * @returns with it the name of the object whose events may say why it waits; null where there is none
 */
export function queuedByList({ items }: z.infer<typeof listSchema>): Queued & { object: string | null } {
  const job = items.find(({ kind }) => kind === "Job");
  const pod = items.findLast(({ kind }) => kind === "Pod");
  const said = (state: Queued["state"], reason: string | null, object: string | null = null) => ({
    state,
    reason,
    expected: null,
    object,
  });
  if (job === undefined) return said("gone", null);
  const ended = conditionOf(job, "Failed") ?? conditionOf(job, "Complete");
  if (ended !== null || job.metadata.deletionTimestamp != null)
    return said("gone", (pod && endedReason(pod)) ?? (ended && told(ended)));
  const suspended = conditionOf(job, "Suspended");
  if (pod === undefined) return said("pending", suspended && told(suspended), job.metadata.name);
  // Its node may be gone, and the cluster then only marks it: a run that lives is known by its beat.
  if (pod.metadata.deletionTimestamp != null)
    return said("gone", endedReason(pod) ?? "its pod is being deleted");
  if (pod.status?.phase === "Running") return said("running", null);
  if (pod.status?.phase === "Pending") return said("pending", waitingReason(pod), pod.metadata.name);
  return said("gone", endedReason(pod));
}

/** Why a pod does not run yet; null where it does not say. */
export function waitingReason({ status }: Item): string | null {
  const waiting = status?.containerStatuses?.map(({ state }) => state?.waiting).find((each) => each != null);
  // Of a container that is being made only the events say what it waits for.
  if (waiting != null && waiting.reason !== "ContainerCreating") return told(waiting);
  const unscheduled = status?.conditions?.find(
    ({ type, status: is }) => type === "PodScheduled" && is === "False",
  );
  return unscheduled === undefined ? null : told(unscheduled);
}

/** Why a pod is over: an eviction, a kill for its memory, its exit code. */
function endedReason({ status }: Item): string | null {
  if (status?.reason != null) return told(status);
  const ended = status?.containerStatuses?.map(({ state }) => state?.terminated).find((each) => each != null);
  if (ended == null) return null;
  return `${ended.reason ?? "ended"} (exit code ${ended.exitCode ?? "unknown"})`;
}

function conditionOf({ status }: Item, name: string) {
  return status?.conditions?.find(({ type, status: is }) => type === name && is === "True") ?? null;
}

function told({ reason, message }: z.infer<typeof toldSchema>): string {
  return [reason, message].filter((each) => each != null && each !== "").join(": ");
}
