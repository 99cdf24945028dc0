/** What this worker is and what it computes on. */
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

export function systemRoutes(app: OpenAPIHono, probe: DeviceProbe): void {
  const started = performance.now();
  app.openapi(health, (c) =>
    c.json({ version: PACKAGE.version, uptime: (performance.now() - started) / 1000 }, 200),
  );
  app.openapi(device, async (c) => c.json(await probe.report(c.req.valid("query").refresh === "true"), 200));
}
