/** What a training job will cost, before it is submitted. */
import { createRoute, type OpenAPIHono, z } from "@hono/zod-openapi";
import { Plan } from "../../protocol/plan.ts";
import { ApiError } from "../http/errors.ts";
import { checkConfig } from "../job/command.ts";
import { planTraining } from "../job/plan.ts";
import type { JobQueue } from "../job/queue.ts";
import { OneByOne } from "../one-by-one.ts";
import { json, refusals, security } from "./schemas.ts";

const plan = createRoute({
  method: "post",
  path: "/api/plan",
  tags: ["jobs"],
  summary: "Measure what a training config will cost: decisions, tokens and memory",
  description:
    "What `gcopd train --plan` prints. It ends when the connection does. One plan is made at a time, a few more wait, and " +
    "503 refuses the rest. No probe is taken while a job has the device: " +
    "its time would be that of both.",
  security,
  request: {
    body: {
      required: true,
      content: {
        "application/json": {
          schema: z.strictObject({
            config: z.record(z.string(), z.unknown()),
            probe: z
              .boolean()
              .default(false)
              .openapi({ description: "Measure its time, too, on a small part of it." }),
          }),
        },
      },
    },
  },
  responses: { 200: json(Plan, "The cost."), ...refusals(400, 409, 413, 415) },
});

/** Plans that may wait for the one that is being made: each loads a tokenizer and may measure the device. */
const WAITING = 8;

export function planRoutes(app: OpenAPIHono, queue: JobQueue, cli?: string): void {
  const plans = new OneByOne(WAITING);
  app.openapi(plan, async (c) => {
    const { config, probe } = c.req.valid("json");
    await checkConfig(config, "POST /api/plan");
    const { signal } = c.req.raw;
    const told = await plans.run("plans", signal, () => {
      refuseBesideJob(config, probe);
      return planTraining(config, { signal, probe, ...(cli === undefined ? {} : { cli }) });
    });
    return c.json(Plan.parse(told), 200);
  });

  function refuseBesideJob(config: Record<string, unknown>, probe: boolean): void {
    const busy = probe ? queue.runningBeside({ kind: "train", config, resume: "manual" }) : null;
    if (busy !== null)
      throw new ApiError(
        409,
        `job ${busy} has the device: a probe beside it would measure both; wait or stop it`,
      );
  }
}
