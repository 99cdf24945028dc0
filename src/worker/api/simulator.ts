/** ScienceWorld, played on the worker's host for the page: `gcopd worker --simulator PATH`. */
import { createRoute, type OpenAPIHono, z } from "@hono/zod-openapi";
import { EnvironmentError } from "../../core/errors.ts";
import { NoSessionError, type ScienceWorldService } from "../../simulator/scienceworld/service.ts";
import {
  planAnswer,
  resetRequest,
  simulatorAnswer,
  startAnswer,
  stepAnswer,
  stepRequest,
} from "../../simulator/session-contract.ts";
import { ApiError } from "../http/errors.ts";
import { json, refusals, security } from "./schemas.ts";

const ROOT = "/api/simulator";

const params = z.object({
  session: z
    .string()
    .regex(/^[\w-]{8,64}$/, "expected 8 to 64 letters, digits, dashes or underscores")
    .openapi({ param: { name: "session", in: "path" }, description: "A name that the client makes up." }),
});

const body = <B extends z.ZodType>(schema: B) => ({
  required: true,
  content: { "application/json": { schema } },
});

const common = { tags: ["simulator"], security };

const info = createRoute({
  ...common,
  method: "get",
  path: ROOT,
  summary: "The simulator that can be played here, and its tasks",
  responses: { 200: json(simulatorAnswer, "Null without a simulator."), ...refusals() },
});

const reset = createRoute({
  ...common,
  method: "post",
  path: `${ROOT}/sessions/{session}/reset`,
  summary: "Begin a task in a session, and open the session if there is none with this name",
  request: { params, body: body(resetRequest) },
  responses: { 200: json(startAnswer, "The first turn."), ...refusals(400, 404, 413, 415) },
});

const step = createRoute({
  ...common,
  method: "post",
  path: `${ROOT}/sessions/{session}/step`,
  summary: "Do one action",
  request: { params, body: body(stepRequest) },
  responses: {
    200: json(stepAnswer, "The next turn, or why there is none."),
    ...refusals(400, 404, 413, 415),
  },
});

const renew = createRoute({
  ...common,
  method: "post",
  path: `${ROOT}/sessions/{session}/renew`,
  summary: "Keep a session for another minute",
  request: { params },
  responses: { 204: { description: "It goes on." }, ...refusals(400, 404) },
});

const close = createRoute({
  ...common,
  method: "delete",
  path: `${ROOT}/sessions/{session}`,
  summary: "End a session",
  request: { params },
  responses: { 204: { description: "It is over." }, ...refusals(400, 404) },
});

const plan = createRoute({
  ...common,
  method: "post",
  path: `${ROOT}/plan`,
  summary: "Actions that solve a task",
  request: { body: body(resetRequest) },
  responses: { 200: json(planAnswer, "The simulator's own solution."), ...refusals(400, 404, 413, 415) },
});

/** `service` is null for a worker without a simulator. */
export function simulatorRoutes(app: OpenAPIHono, service: ScienceWorldService | null): void {
  const ask = async <T>(question: (service: ScienceWorldService) => T): Promise<Awaited<T>> => {
    if (service === null)
      throw new ApiError(404, "this worker has no simulator: start it with --simulator PATH");
    try {
      return await question(service);
    } catch (error) {
      if (error instanceof NoSessionError) throw new ApiError(404, error.message);
      if (error instanceof EnvironmentError) throw new ApiError(503, error.message);
      throw error;
    }
  };
  app.openapi(info, (c) => c.json({ scienceworld: service?.info() ?? null }, 200));
  app.openapi(reset, async (c) => {
    const { session } = c.req.valid("param");
    const { task } = c.req.valid("json");
    return c.json(await ask((simulator) => simulator.reset(session, task)), 200);
  });
  app.openapi(step, async (c) => {
    const { session } = c.req.valid("param");
    const { action } = c.req.valid("json");
    return c.json(await ask((simulator) => simulator.step(session, action)), 200);
  });
  app.openapi(renew, async (c) => {
    await ask((simulator) => simulator.renew(c.req.valid("param").session));
    return c.body(null, 204);
  });
  app.openapi(close, async (c) => {
    await ask((simulator) => simulator.close(c.req.valid("param").session));
    return c.body(null, 204);
  });
  app.openapi(plan, async (c) => {
    const { task } = c.req.valid("json");
    return c.json({ actions: await ask((simulator) => simulator.plan(task)) }, 200);
  });
}
