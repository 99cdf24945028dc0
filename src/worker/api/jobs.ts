/** Submitting, listing, cancelling and resuming jobs. */
import { createRoute, type OpenAPIHono, z } from "@hono/zod-openapi";
import { hours, Job, JobRequest, memoryLimit, TrainRequest } from "../../protocol/job.ts";
import { JOB_STATES } from "../../protocol/job-state.ts";
import { checkedRequest } from "../job/command.ts";
import type { JobQueue } from "../job/queue.ts";
import type { JobStore, StoredJob } from "../job/store.ts";
import { JobId, json, refusals, security } from "./schemas.ts";

const submit = createRoute({
  method: "post",
  path: "/api/jobs",
  tags: ["jobs"],
  summary: "Submit a scoring or training job over files on the worker's disk",
  security,
  request: { body: { required: true, content: { "application/json": { schema: JobRequest } } } },
  responses: { 201: json(Job, "The job, queued or already starting."), ...refusals(400, 409, 413, 415) },
});

const list = createRoute({
  method: "get",
  path: "/api/jobs",
  tags: ["jobs"],
  summary: "List jobs, newest first",
  security,
  request: {
    query: z.object({
      state: z.enum(JOB_STATES).optional().openapi({ description: "Only jobs in this state." }),
      limit: z.coerce
        .number()
        .int()
        .min(1)
        .max(1000)
        .default(100)
        .openapi({ description: "At most so many." }),
    }),
  },
  responses: { 200: json(z.object({ jobs: z.array(Job) }), "The jobs."), ...refusals(400) },
});

const get = createRoute({
  method: "get",
  path: "/api/jobs/{id}",
  tags: ["jobs"],
  summary: "Get one job",
  security,
  request: { params: JobId },
  responses: { 200: json(Job, "The job."), ...refusals(404) },
});

const cancel = createRoute({
  method: "post",
  path: "/api/jobs/{id}/cancel",
  tags: ["jobs"],
  summary: "Ask a job to stop",
  description:
    "A waiting job is `cancelled` at once. A running one is `cancelling` until its process is gone and `cancelled` " +
    "then: follow its events to see that confirmed.",
  security,
  request: { params: JobId },
  responses: { 202: json(Job, "The job, cancelled or cancelling."), ...refusals(404, 409) },
});

const stop = createRoute({
  method: "post",
  path: "/api/jobs/{id}/stop",
  tags: ["jobs"],
  summary: "Ask a training job to end after its present step",
  description:
    "As `cancel`, but it is never made to: the step may take as long as it takes. `cancel` after it ends it at once.",
  security,
  request: { params: JobId },
  responses: { 202: json(Job, "The job, cancelled or cancelling."), ...refusals(404, 409) },
});

const remove = createRoute({
  method: "delete",
  path: "/api/jobs/{id}",
  tags: ["jobs"],
  summary: "Take an ended job away, with all that it wrote",
  security,
  request: { params: JobId },
  responses: { 204: { description: "It is gone." }, ...refusals(404, 409) },
});

const rename = createRoute({
  method: "patch",
  path: "/api/jobs/{id}",
  tags: ["jobs"],
  summary: "Name a training job",
  security,
  request: {
    params: JobId,
    body: {
      required: true,
      content: {
        "application/json": { schema: z.strictObject({ title: TrainRequest.shape.title.unwrap() }) },
      },
    },
  },
  responses: { 200: json(Job, "The job under its new title."), ...refusals(400, 404, 409, 413, 415) },
});

const resume = createRoute({
  method: "post",
  path: "/api/jobs/{id}/resume",
  tags: ["jobs"],
  summary: "Go on with a cancelled, failed or lost job",
  description:
    "Training goes on from its last checkpoint, scoring after the last group of requests that it finished.",
  security,
  request: {
    params: JobId,
    body: {
      content: {
        "application/json": {
          schema: z.strictObject({ memory_limit_gib: memoryLimit.optional(), hours: hours.optional() }),
        },
      },
    },
  },
  responses: {
    202: json(Job, "The job, queued or already starting."),
    ...refusals(400, 404, 409, 413, 415),
  },
});

export function jobRoutes(app: OpenAPIHono, queue: JobQueue, store: JobStore): void {
  /** Without what only the queue needs. */
  const shown = (job: StoredJob): Job => {
    const { lane: _lane, outputOffset: _offset, fruitless: _fruitless, ...rest } = job;
    return { ...rest, command: queue.command(job) };
  };
  app.openapi(submit, async (c) => {
    const request = await checkedRequest(c.req.valid("json"), "POST /api/jobs");
    return c.json(shown(queue.submit(request)), 201);
  });
  app.openapi(list, (c) => c.json({ jobs: store.list(c.req.valid("query")).map(shown) }, 200));
  app.openapi(get, (c) => c.json(shown(queue.get(c.req.valid("param").id)), 200));
  app.openapi(rename, (c) =>
    c.json(shown(queue.rename(c.req.valid("param").id, c.req.valid("json").title)), 200),
  );
  app.openapi(stop, (c) => c.json(shown(queue.stop(c.req.valid("param").id)), 202));
  app.openapi(cancel, (c) => c.json(shown(queue.cancel(c.req.valid("param").id)), 202));
  app.openapi(resume, (c) => {
    return c.json(shown(queue.resume(c.req.valid("param").id, c.req.valid("json"))), 202);
  });
  app.openapi(remove, async (c) => {
    await queue.remove(c.req.valid("param").id);
    return c.body(null, 204);
  });
}
