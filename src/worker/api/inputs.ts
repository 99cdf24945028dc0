/** Files of a job that is still to be submitted. */
import { createRoute, type OpenAPIHono, z } from "@hono/zod-openapi";
import { InputFile } from "../../protocol/files.ts";
import { TRAIN_ID } from "../../protocol/job.ts";
import { ApiError } from "../http/errors.ts";
import { withIdleLimit } from "../http/time-limits.ts";
import { writeInput } from "../job/input-file.ts";
import type { JobQueue } from "../job/queue.ts";
import { json, refusals, security } from "./schemas.ts";

/** Whether a body is a file, streamed to the disk: the limits of other bodies, in size and time, do not apply. */
export function isUpload(method: string, path: string): boolean {
  return method === "PUT" && /^\/api\/jobs\/[^/]+\/inputs$/.test(path);
}

const put = createRoute({
  method: "put",
  path: "/api/jobs/{id}/inputs",
  tags: ["jobs"],
  summary: "Send a file that a job will read, before the job is submitted under the same id",
  description:
    "Of several files sent under one path, the one that is complete last stays. A file that is not complete when its job " +
    "is submitted is refused. Files whose job is not submitted within a day of the last of them are removed when the worker starts next. After a " +
    "503 the file may be there or not: send it again.",
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
    201: json(InputFile, "Where it lies."),
    ...refusals(400, 408, 409),
  },
});

/** `idleMs`: milliseconds that an upload may pause. */
export function inputRoutes(app: OpenAPIHono, queue: JobQueue, idleMs: number): void {
  app.openapi(put, async (c) => {
    const { id } = c.req.valid("param");
    if (queue.has(id)) throw new ApiError(409, `job ${id}: it was submitted already`);
    const { body } = c.req.raw;
    const written = await writeInput(
      queue.folders.inputFolder(id),
      c.req.valid("query").path,
      body === null ? [] : withIdleLimit(body, idleMs),
      `PUT /api/jobs/${id}/inputs`,
      () => {
        if (queue.has(id))
          throw new ApiError(
            409,
            `job ${id}: it was submitted before this file was complete; the file is not kept`,
          );
      },
    );
    return c.json(written, 201);
  });
}
