/** The worker's HTTP side: who may ask, the API with its OpenAPI document, and the page. */
import type { HttpBindings } from "@hono/node-server";
import { OpenAPIHono } from "@hono/zod-openapi";
import type { Hono } from "hono";
import { bodyLimit } from "hono/body-limit";
import { plainLine } from "../core/plain-text.ts";
import { PACKAGE } from "../node/package-root.ts";
import type { ScienceWorldService } from "../simulator/scienceworld/service.ts";
import type { ShopService } from "../simulator/webshop/service.ts";
import { eventRoutes } from "./api/events.ts";
import { inputRoutes, isUpload } from "./api/inputs.ts";
import { jobRoutes } from "./api/jobs.ts";
import { launchRoutes } from "./api/launches.ts";
import { planRoutes } from "./api/plan.ts";
import { resultRoutes } from "./api/results.ts";
import { TOKEN_SCHEME } from "./api/schemas.ts";
import { sharedRoutes } from "./api/shared.ts";
import { shopRoutes } from "./api/shop.ts";
import { simulatorRoutes } from "./api/simulator.ts";
import { systemRoutes } from "./api/system.ts";
import { targetRoutes } from "./api/targets.ts";
import type { DeviceProbe } from "./device/probe.ts";
import { ApiError, answerError, requestError } from "./http/errors.ts";
import { pageRoutes } from "./http/page.ts";
import { ignoreOtherRanges, refuseOtherSites, requireOwnAddress, requireToken } from "./http/security.ts";
import { closeUnlessRead } from "./http/unread-body.ts";
import type { JobQueue } from "./job/queue.ts";
import type { JobStore } from "./job/store.ts";
import type { FollowedRuns } from "./launch/followed-runs.ts";

export interface AppOptions {
  token: string;
  pageDir: string;
  /** Absolute: a folder with a folder for each job. */
  jobsDir: string;
  /** Script that plans training in place of the command line. */
  planCli?: string;
  /** Origins that the page may read files from. */
  connect?: readonly string[];
  /** A folder of the disk that the page may read from; null shares none. */
  files?: string | null;
  /** Milliseconds that an upload may pause. */
  uploadIdleMs: number;
  /** A shop to serve; null serves none. */
  shop?: ShopService | null;
  /** ScienceWorld, to be played; null plays none. */
  simulator?: ScienceWorldService | null;
  /** Null on a unix socket. */
  port: () => number | null;
  queue: JobQueue;
  store: JobStore;
  launched: FollowedRuns;
  probe: DeviceProbe;
}

const MAX_BODY = 1 << 20;

/** Routes whose answer holds nothing private. */
const OPEN = "/api/openapi.json";

export function createApp(options: AppOptions): OpenAPIHono {
  const app = new OpenAPIHono({
    defaultHook: (result, c) => {
      if (!result.success) throw requestError(result.error, `${c.req.method} ${c.req.path}`);
    },
  });
  app.onError(answerError);
  app.use(closeUnlessRead);
  app.use(requireOwnAddress(options.port));
  app.use(ignoreOtherRanges);
  app.use("/api/*", refuseOtherSites);

  const token = requireToken(options.token);
  app.use("/api/*", async (c, next) => (c.req.path === OPEN ? next() : token(c, next)));
  app.use("/api/*", async (c, next) => {
    await next();
    c.res.headers.set("X-Content-Type-Options", "nosniff");
    c.res.headers.set("Cross-Origin-Resource-Policy", "same-origin");
    if (!c.res.headers.has("Cache-Control")) c.res.headers.set("Cache-Control", "no-store");
  });
  const limited = bodyLimit({
    maxSize: MAX_BODY,
    onError: (c) =>
      c.json({ error: plainLine(`${c.req.method} ${c.req.path}: expected at most ${MAX_BODY} bytes`) }, 413),
  });
  app.use("/api/*", async (c, next) => (isUpload(c.req.method, c.req.path) ? next() : limited(c, next)));

  systemRoutes(app, options.probe, options.queue, {
    jobs: options.jobsDir,
    page: options.pageDir,
    shared: options.files ?? null,
  });
  jobRoutes(app, options.queue, options.store);
  eventRoutes(app, options.queue, options.store);
  resultRoutes(app, options.queue);
  sharedRoutes(app, options.files ?? null);
  inputRoutes(app, options.queue, options.uploadIdleMs);
  targetRoutes(app);
  launchRoutes(app, options.launched, options.jobsDir);
  planRoutes(app, options.queue, options.planCli);
  shopRoutes(app, options.shop ?? null);
  simulatorRoutes(app, options.simulator ?? null);

  app.openAPIRegistry.registerComponent("securitySchemes", TOKEN_SCHEME, {
    type: "http",
    scheme: "bearer",
    description:
      "In the file `token` of the worker's data folder, unless `--token-file`, `--token` or GCOPD_TOKEN gives it.",
  });
  app.doc31(OPEN, {
    openapi: "3.1.0",
    info: {
      title: "GC-OPD worker",
      version: PACKAGE.version,
      description: "Scoring and training jobs over files on the worker's disk, and runs on targets.",
      license: { name: "Apache-2.0" },
    },
    servers: [{ url: "/" }],
  });
  app.all("/api/*", (c) => {
    throw new ApiError(404, `${c.req.method} ${c.req.path}: there is no such route; ${OPEN} lists them`);
  });

  const page: Hono<{ Bindings: HttpBindings }> = pageRoutes({
    folder: options.pageDir,
    connect: options.connect ?? [],
    token: options.port() === null ? null : options.token,
  });
  app.all("*", (c) => page.fetch(c.req.raw, c.env));
  return app;
}
