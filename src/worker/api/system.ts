/** What this worker is and what it computes on. */
import { stat } from "node:fs/promises";
import { join } from "node:path";
import { createRoute, type OpenAPIHono, z } from "@hono/zod-openapi";
import { unlessPassing } from "../../node/file-error.ts";
import { PACKAGE } from "../../node/package-root.ts";
import { DeviceReport } from "../../protocol/device.ts";
import { Files } from "../../protocol/files.ts";
import type { DeviceProbe } from "../device/probe.ts";
import type { JobQueue } from "../job/queue.ts";
import { json, refusals, security } from "./schemas.ts";

const Health = z
  .object({
    version: z.string(),
    uptime: z.number().openapi({ description: "Seconds since the worker started." }),
    faults: z.array(z.string()).openapi({
      description: "What it waits out at present, one per line: a full disk, a list of jobs that is locked.",
    }),
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

/** What a job's `gcopd` is: it runs in any folder, installed or not. */
const PROGRAM = [process.execPath, join(PACKAGE.root, "bin", "gcopd.js")];

/** Never a token: what is shown is copied into shells and shared. */
const VARIABLES = [
  ...["HF_ENDPOINT", "HF_HUB_OFFLINE", "GCOPD_CACHE", "XDG_CACHE_HOME"],
  ...["GCOPD_ADAPTER", "GCOPD_DAWN_FEATURES", "GCOPD_TUNING", "VK_ICD_FILENAMES"],
];

function environment(): Record<string, string> {
  const set = VARIABLES.map((name) => [name, process.env[name] ?? ""] as const);
  return Object.fromEntries(set.filter(([, value]) => value !== ""));
}

/** Paths of the sample in the folder of the page, which brings it; null where it is not whole. @throws a fault that passes */
async function sampleFiles(pageDir: string): Promise<Files["sample"]> {
  const at = (name: string) => join(pageDir, "sample", name);
  const sample = {
    library: at("sources.jsonl.gz"),
    episodes: at("episodes.jsonl.gz"),
    teacher: at("teacher"),
    student: at("student"),
    tokenizer: at("tokenizer"),
  };
  const found = await Promise.all(Object.values(sample).map((path) => stat(path).catch(unlessPassing)));
  return found.includes(null) ? null : sample;
}

export function systemRoutes(
  app: OpenAPIHono,
  probe: DeviceProbe,
  queue: JobQueue,
  folders: { jobs: string; page: string; shared: string | null },
): void {
  const started = performance.now();
  app.openapi(health, (c) =>
    c.json(
      { version: PACKAGE.version, uptime: (performance.now() - started) / 1000, faults: queue.faults },
      200,
    ),
  );
  app.openapi(files, async (c) => {
    const { jobs, page, shared } = folders;
    const sample = await sampleFiles(page);
    return c.json({ jobs, shared, program: PROGRAM, environment: environment(), sample }, 200);
  });
  app.openapi(device, async (c) => c.json(await probe.report(c.req.valid("query").refresh === "true"), 200));
}
