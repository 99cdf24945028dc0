/** Files of a job that is still to be submitted. */
import { createRoute, type OpenAPIHono, z } from "@hono/zod-openapi";
import { ApiError } from "../http/errors.ts";
import { writeInput } from "../job/input-file.ts";
import { TRAIN_ID } from "../job/job.ts";
import type { JobQueue } from "../job/queue.ts";
import { json, refusals, security } from "./schemas.ts";

/** Bodies of this route are files, streamed to the disk: the limit of other bodies does not hold. */
export const INPUTS_PATH = /^\/api\/jobs\/[^/]+\/inputs$/;

const put = createRoute({
  method: "put",
  path: "/api/jobs/{id}/inputs",
  tags: ["jobs"],
  summary: "Send a file that a job will read, before the job is submitted under the same id",
  description: "A day without that job, and the next start of the worker takes the file away.",
  security,
  request: {
    params: z.object({
      id: z
        .string()
        .regex(TRAIN_ID, "expected train- and 12 hexadecimal digits")
        .openapi({ param: { name: "id", in: "path" }, example: "train-4f1d0c9a2b7e" }),
    }),
    query: z.object({
      path: z.string().openapi({ description: "A file name, at most one folder before it." }),
    }),
  },
  responses: {
    201: json(
      z.object({
        path: z.string().openapi({ description: "Absolute, for the job's config." }),
        bytes: z.int(),
      }),
      "Where it lies.",
    ),
    ...refusals(400, 409),
  },
});

export function inputRoutes(app: OpenAPIHono, queue: JobQueue): void {
  app.openapi(put, async (c) => {
    const { id } = c.req.valid("param");
    if (queue.has(id)) throw new ApiError(409, `job ${id}: it was submitted already`);
    const written = await writeInput(
      queue.inputFolder(id),
      c.req.valid("query").path,
      c.req.raw.body,
      `PUT /api/jobs/${id}/inputs`,
    );
    return c.json(written, 201);
  });
}
