/** The folder that the worker shares with its page: `gcopd worker --files DIR`. */
import { serveStatic } from "@hono/node-server/serve-static";
import { createRoute, type OpenAPIHono, z } from "@hono/zod-openapi";
import { SharedList } from "../../protocol/files.ts";
import { listShared, sharedFile } from "../files/shared-folder.ts";
import { ApiError } from "../http/errors.ts";
import { json, RangeHeader, refusals, security } from "./schemas.ts";

const list = createRoute({
  method: "get",
  path: "/api/shared",
  tags: ["shared"],
  summary: "List a folder of the shared one",
  security,
  request: {
    query: z.object({
      path: z
        .string()
        .default("")
        .openapi({ description: "Below the shared folder; that folder itself if left out." }),
    }),
  },
  responses: {
    200: json(
      SharedList,
      "Folders first, by name; `more` counts entries beyond those listed. Hidden ones are left out.",
    ),
    ...refusals(400, 404),
  },
});

const CONTENT = "/api/shared/content/";

/** `root` is null for a worker that shares nothing. */
export function sharedRoutes(app: OpenAPIHono, root: string | null): void {
  const shared = (): string => {
    if (root !== null) return root;
    throw new ApiError(404, "this worker shares no folder: start it with --files FOLDER");
  };

  app.openapi(list, async (c) =>
    c.json(await listShared(shared(), c.req.valid("query").path, "GET /api/shared"), 200),
  );

  app.openAPIRegistry.registerPath({
    method: "get",
    path: `${CONTENT}{path}`,
    tags: ["shared"],
    summary: "Fetch a file of the shared folder",
    description: "`path` keeps its slashes. `Range: bytes=…` fetches a part.",
    security,
    request: { params: z.object({ path: z.string() }), headers: RangeHeader },
    responses: {
      200: { description: "The file.", content: { "application/octet-stream": { schema: z.string() } } },
      206: { description: "The part.", content: { "application/octet-stream": { schema: z.string() } } },
      ...refusals(400, 404, 416),
    },
  });
  app.get(`${CONTENT}*`, async (c) => {
    const raw = new URL(c.req.url).pathname.slice(CONTENT.length);
    let path: string;
    try {
      path = decodeURIComponent(raw);
    } catch {
      throw new ApiError(400, "GET /api/shared/content: the path is not correctly escaped");
    }
    const file = await sharedFile(shared(), path, "GET /api/shared/content");
    const answer = await serveStatic({ path: file })(c, async () => {});
    if (!(answer instanceof Response)) throw new ApiError(404, `${path}: the file is gone`);
    // Data, whatever its name says.
    answer.headers.set("Content-Type", "application/octet-stream");
    answer.headers.set("Accept-Ranges", "bytes");
    return answer;
  });
}
