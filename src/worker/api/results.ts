/** What a job wrote: its output folder's files, and its log. */
import { createReadStream } from "node:fs";
import { stat } from "node:fs/promises";
import { basename, extname } from "node:path";
import { Readable } from "node:stream";
import { serveStatic } from "@hono/node-server/serve-static";
import { createRoute, type OpenAPIHono, z } from "@hono/zod-openapi";
import type { Context, TypedResponse } from "hono";
import { InputError } from "../../core/errors.ts";
import { Results } from "../../protocol/files.ts";
import { ApiError } from "../http/errors.ts";
import { logTail } from "../job/log-tail.ts";
import type { JobQueue } from "../job/queue.ts";
import { listResults, resultFile } from "../job/results.ts";
import { JobId, json, RangeHeader, refusals, security } from "./schemas.ts";

const list = createRoute({
  method: "get",
  path: "/api/jobs/{id}/results",
  tags: ["results"],
  summary: "List the files of a job's output folder",
  security,
  request: { params: JobId },
  responses: {
    200: json(Results, "The files, by path."),
    ...refusals(404),
  },
});

const file = createRoute({
  method: "get",
  path: "/api/jobs/{id}/results/file",
  tags: ["results"],
  summary: "Fetch one file of a job's output folder",
  description: "`Range: bytes=…` fetches a part.",
  security,
  request: {
    params: JobId,
    query: z.object({ path: z.string().min(1).openapi({ description: "A path of the list of results." }) }),
    headers: RangeHeader,
  },
  responses: {
    200: { description: "The file.", content: { "application/octet-stream": { schema: z.string() } } },
    206: { description: "The part.", content: { "application/octet-stream": { schema: z.string() } } },
    ...refusals(400, 404, 416),
  },
});

export const logQuery = z.object({
  attempt: z.coerce.number().int().min(1).optional().openapi({ description: "The latest one if left out." }),
  tail: z.coerce.number().int().min(1).max(100_000).optional().openapi({
    description:
      "Only so many lines from its end; `Log-Bytes` of the answer tells how long the whole log is.",
  }),
});

const log = createRoute({
  method: "get",
  path: "/api/jobs/{id}/log",
  tags: ["results"],
  summary: "Fetch the standard error of a job's command",
  security,
  request: {
    params: JobId,
    query: logQuery,
  },
  responses: {
    200: { description: "The log.", content: { "text/plain": { schema: z.string() } } },
    ...refusals(400, 404),
  },
});

/** Text that a browser may show; everything else is bytes. Never HTML or scripts: results are data. */
const TYPES: Record<string, string> = {
  ".json": "application/json",
  ".jsonl": "application/x-ndjson; charset=utf-8",
  ".txt": "text/plain; charset=utf-8",
  ".log": "text/plain; charset=utf-8",
  ".md": "text/plain; charset=utf-8",
};

export function resultRoutes(app: OpenAPIHono, queue: JobQueue): void {
  app.openapi(list, async (c) => {
    const { id } = queue.get(c.req.valid("param").id);
    const folder = queue.folders.outFolder(id);
    return c.json({ folder, files: await listResults(folder) }, 200);
  });

  app.openapi(file, async (c) => {
    const { id } = queue.get(c.req.valid("param").id);
    return answerFile(
      c,
      queue.folders.outFolder(id),
      c.req.valid("query").path,
      `GET /api/jobs/${id}/results/file`,
    );
  });

  app.openapi(log, async (c) => {
    const job = queue.get(c.req.valid("param").id);
    const attempt = c.req.valid("query").attempt ?? job.attempt;
    if (attempt > job.attempt) {
      throw new InputError(`expected at most ${job.attempt}, the number of attempts`, {
        file: `GET /api/jobs/${job.id}/log`,
        key: "attempt",
      });
    }
    const { tail } = c.req.valid("query");
    return answerLog(c, queue.folders.logFile(job.id, attempt), tail, `job ${job.id}: it has no log yet`);
  });
}

/** A file of a folder of results, or a part of it. @throws ApiError 404; InputError for a path that leads out of it */
export async function answerFile(c: Context, folder: string, name: string, where: string) {
  const path = await resultFile(folder, name, where);
  const answer = await serveStatic({ path })(c, async () => {});
  if (!(answer instanceof Response)) throw new ApiError(404, `${where}: the file is gone`);
  if (answer.status === 416) {
    const range = answer.headers.get("Content-Range") ?? "";
    return c.json({ error: `Range: the file has ${range.split("/")[1]} bytes` }, 416, {
      "Content-Range": range,
    });
  }
  answer.headers.set("Content-Type", TYPES[extname(path)] ?? "application/octet-stream");
  answer.headers.set(
    "Content-Disposition",
    `attachment; filename*=UTF-8''${encodeURIComponent(basename(path))}`,
  );
  answer.headers.set("Accept-Ranges", "bytes");
  return answer;
}

/** A log, or only its last lines. @param none said where there is no such file */
export async function answerLog(c: Context, file: string, tail: number | undefined, none: string) {
  const missing = (error: NodeJS.ErrnoException) => {
    throw error.code === "ENOENT" ? new ApiError(404, none) : error;
  };
  if (tail !== undefined) {
    const end = await logTail(file, tail).catch(missing);
    return c.text(end.text, 200, { "Log-Bytes": String(end.bytes) });
  }
  const { size } = await stat(file).catch(missing);
  // A log grows while its run goes on: so much as it has now.
  const stream = createReadStream(file, size === 0 ? {} : { end: size - 1 });
  const answer = new Response(Readable.toWeb(stream) as ReadableStream, {
    headers: { "Content-Type": "text/plain; charset=utf-8", "Log-Bytes": String(size) },
  });
  return answer as Response & TypedResponse<string, 200, "text">;
}
