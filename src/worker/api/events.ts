/** A job's events as they happen, from where the client last was: server-sent events. */
import { createRoute, type OpenAPIHono, z } from "@hono/zod-openapi";
import { streamSSE } from "hono/streaming";
import type { JobEvent } from "../../protocol/job-event.ts";
import { eventText } from "../../protocol/job-event.ts";
import { ENDED } from "../../protocol/job-state.ts";
import type { JobQueue } from "../job/queue.ts";
import type { JobStore } from "../job/store.ts";
import { StoreFault } from "../job/store-fault.ts";
import { JobId, refusals, security } from "./schemas.ts";

/** Sent when nothing happens, so that both ends notice a broken connection. */
const KEEP_ALIVE_MS = 15_000;
/** After a fault of the store, which is waited out. */
const RETRY_MS = 1000;
const BATCH = 500;

const events = createRoute({
  method: "get",
  path: "/api/jobs/{id}/events",
  tags: ["jobs"],
  summary: "Follow a job as server-sent events",
  description:
    "All events of the job from its first on, or from the one after `Last-Event-ID`; then each as it happens. Types: " +
    "`state` with `{state, message}`, `progress` with an object that the command printed, `output` with `{text}` for " +
    "any other line of it. Each event's data also holds `attempt`, the run of the job that it is of, and `at`. An " +
    "object that has a key `attempt`, `at` or `printed` itself stands whole under `printed`, too. The stream ends when " +
    "the job has ended; with `follow=false`, once all that has happened was sent.",
  security,
  request: {
    params: JobId,
    query: z.object({ follow: z.enum(["true", "false"]).default("true") }),
    headers: z.object({
      "last-event-id": z
        .string()
        .regex(/^\d{1,15}$/, "expected the id of an event, a whole number")
        .optional()
        .openapi({ description: "Id of the last event that the client has." }),
    }),
  },
  responses: {
    200: { description: "The events.", content: { "text/event-stream": { schema: z.string() } } },
    204: { description: "The job has ended and the client has all of its events: do not connect again." },
    ...refusals(400, 404),
  },
});

export function eventRoutes(app: OpenAPIHono, queue: JobQueue, store: JobStore): void {
  /** The job's next events; `over` when there will be none any more. */
  const look = (
    id: string,
    last: number,
  ): { events: JobEvent[]; over: boolean; isFault: boolean; waitMs: number } => {
    try {
      // The state first: its event is there when it is.
      const job = store.get(id);
      const over = job === null || ENDED.includes(job.state);
      return { events: store.eventsAfter(id, last, BATCH), over, isFault: false, waitMs: KEEP_ALIVE_MS };
    } catch (error) {
      if (!(error instanceof StoreFault)) throw error;
      return { events: [], over: false, isFault: true, waitMs: RETRY_MS };
    }
  };

  app.openapi(events, (c) => {
    const { id } = c.req.valid("param");
    const isFollowed = c.req.valid("query").follow === "true";
    const lastEventId = c.req.valid("header")["last-event-id"];
    const job = queue.get(id);
    let last = Number(lastEventId ?? 0);
    if (lastEventId !== undefined && ENDED.includes(job.state) && last >= job.last_event)
      return c.body(null, 204);

    return streamSSE(c, async (stream) => {
      let wake = () => {};
      const unsubscribe = queue.subscribe(id, () => wake());
      stream.onAbort(() => wake());
      try {
        while (!stream.aborted) {
          const news = look(id, last);
          for (const event of news.events) {
            await stream.writeSSE({ id: String(event.id), event: event.type, data: eventText(event) });
            last = event.id;
          }
          if (news.events.length > 0) continue;
          if (queue.closing || news.over || !(isFollowed || news.isFault)) return;
          const woken = await new Promise<boolean>((resolve) => {
            const timer = setTimeout(() => resolve(false), news.waitMs);
            wake = () => {
              clearTimeout(timer);
              resolve(true);
            };
          });
          if (!woken) await stream.write(": still here\n\n");
        }
      } finally {
        unsubscribe();
      }
    });
  });
}
