/** Places where runs are launched: those of `gcopd target`, in the same file. */
import { createRoute, type OpenAPIHono, z } from "@hono/zod-openapi";
import { CheckSteps, Targets } from "../../protocol/target.ts";
import { checkTarget } from "../launch/check.ts";
import { addTarget, readTarget, readTargets, targetsFile } from "../launch/target.ts";
import { OneByOne } from "../one-by-one.ts";
import { json, refusals, security } from "./schemas.ts";

const common = { tags: ["targets"], security };

const list = createRoute({
  ...common,
  method: "get",
  path: "/api/targets",
  summary: "List the targets",
  description: "Contacts none of them. They hold no secret.",
  responses: { 200: json(Targets, "By name."), ...refusals(400) },
});

const add = createRoute({
  ...common,
  method: "post",
  path: "/api/targets",
  summary: "Add a target, or replace one",
  request: {
    body: {
      required: true,
      content: {
        "application/json": {
          schema: z.strictObject({
            name: z.string(),
            target: z
              .record(z.string(), z.unknown())
              .openapi({ description: "Its keys, as docs/remote.md has them." }),
            replace: z.boolean().default(false),
          }),
        },
      },
    },
  },
  responses: { 201: json(Targets, "All of them, now."), ...refusals(400, 413, 415) },
});

const check = createRoute({
  ...common,
  method: "post",
  path: "/api/targets/{name}/check",
  summary: "Try every step that a run needs on a target",
  description:
    "Answers when all steps were tried. One target at a time, a few more wait, and 503 refuses the rest.",
  request: { params: z.object({ name: z.string() }) },
  responses: { 200: json(CheckSteps, "Each step, in its order."), ...refusals(400) },
});

/** Checks that may wait for the one that goes on. */
const WAITING = 8;

export function targetRoutes(app: OpenAPIHono): void {
  const checks = new OneByOne(WAITING);
  const all = () => ({ file: targetsFile(), targets: readTargets() });
  app.openapi(list, (c) => c.json(all(), 200));
  app.openapi(add, async (c) => {
    const { name, target, replace } = c.req.valid("json");
    await addTarget(name, target, { replace });
    return c.json(all(), 201);
  });
  app.openapi(check, async (c) => {
    const target = readTarget(c.req.valid("param").name);
    const steps = await checks.run("checks of targets", c.req.raw.signal, () => checkTarget(target));
    return c.json({ steps }, 200);
  });
}
