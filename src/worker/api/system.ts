/** What this worker is and what it computes on. */
import { existsSync } from "node:fs";
import { join } from "node:path";
import { createRoute, type OpenAPIHono, z } from "@hono/zod-openapi";
import { type DeviceProbe, DeviceReport } from "../device/probe.ts";
import { PACKAGE } from "../package-root.ts";
import { json, refusals, security } from "./schemas.ts";

const Health = z
  .object({
    version: z.string(),
    uptime: z.number().openapi({ description: "Seconds since the worker started." }),
  })
  .openapi("Health");

const health = createRoute({
  method: "get",
  path: "/api/health",
  tags: ["system"],
  summary: "Is the worker there, and is the token right",
  security,
  responses: { 200: json(Health, "It is."), ...refusals() },
});

const Files = z
  .object({
    jobs: z.string().openapi({ description: "Folder with a folder for each job, by its id." }),
    sample: z
      .object({
        library: z.string(),
        episodes: z.string(),
        teacher: z.string(),
        student: z.string(),
        tokenizer: z.string(),
      })
      .nullable()
      .openapi({ description: "The sample's files on this disk; null when they are not there." }),
  })
  .openapi("Files");

const files = createRoute({
  method: "get",
  path: "/api/files",
  tags: ["system"],
  summary: "Where jobs and the sample lie on the worker's disk",
  security,
  responses: { 200: json(Files, "Absolute paths."), ...refusals() },
});

const device = createRoute({
  method: "get",
  path: "/api/device",
  tags: ["system"],
  summary: "What jobs compute on",
  description:
    "Looked up once, in a process of its own, so that a driver that crashes does not end the worker.",
  security,
  request: {
    query: z.object({
      refresh: z.enum(["true", "false"]).default("false").openapi({ description: "Look again." }),
    }),
  },
  responses: { 200: json(DeviceReport, "The device."), ...refusals(400) },
});

/** Paths of the sample in the folder of the page, which brings it. */
function sampleFiles(pageDir: string): z.infer<typeof Files>["sample"] {
  const at = (name: string) => join(pageDir, "sample", name);
  const sample = {
    library: at("sources.jsonl.gz"),
    episodes: at("episodes.jsonl.gz"),
    teacher: at("teacher"),
    student: at("student"),
    tokenizer: at("tokenizer"),
  };
  return Object.values(sample).every(existsSync) ? sample : null;
}

export function systemRoutes(
  app: OpenAPIHono,
  probe: DeviceProbe,
  folders: { jobs: string; page: string },
): void {
  const started = performance.now();
  app.openapi(health, (c) =>
    c.json({ version: PACKAGE.version, uptime: (performance.now() - started) / 1000 }, 200),
  );
  app.openapi(files, (c) => c.json({ jobs: folders.jobs, sample: sampleFiles(folders.page) }, 200));
  app.openapi(device, async (c) => c.json(await probe.report(c.req.valid("query").refresh === "true"), 200));
}
