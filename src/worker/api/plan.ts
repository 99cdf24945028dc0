/** What a training job will cost, before it is submitted. */
import { createRoute, type OpenAPIHono, z } from "@hono/zod-openapi";
import { checkConfig } from "../job/command.ts";
import { planTraining } from "../job/plan.ts";
import { json, refusals, security } from "./schemas.ts";

const tokens = z.int().nullable().openapi({ description: "Null where responses are still to be drawn." });

const Plan = z
  .object({
    total: z.number().openapi({ description: "Bytes of the device." }),
    items: z.array(z.object({ name: z.string(), part: z.string(), bytes: z.number() })),
    work: z.object({
      episodes: z.int(),
      decisions: z.int(),
      epochs: z.int(),
      steps: z.int(),
      teacher_tokens: tokens,
      student_tokens: tokens,
      response_tokens: tokens,
    }),
    device: z.object({ kind: z.enum(["webgpu", "cpu"]), adapter: z.string().nullable() }),
    problem: z.string().nullable().openapi({ description: "Why it would be refused; null when it fits." }),
  })
  .openapi("Plan");

const plan = createRoute({
  method: "post",
  path: "/api/plan",
  tags: ["jobs"],
  summary: "Measure what a training config will cost: decisions, tokens and memory",
  description: "What `gcopd train --plan` prints. It ends when the connection does.",
  security,
  request: {
    body: {
      required: true,
      content: {
        "application/json": { schema: z.strictObject({ config: z.record(z.string(), z.unknown()) }) },
      },
    },
  },
  responses: { 200: json(Plan, "The cost."), ...refusals(400, 413, 415) },
});

export function planRoutes(app: OpenAPIHono, cli?: string): void {
  app.openapi(plan, async (c) => {
    const { config } = c.req.valid("json");
    await checkConfig(config, "POST /api/plan");
    const { signal } = c.req.raw;
    const told = await planTraining(config, { signal, ...(cli === undefined ? {} : { cli }) });
    return c.json(Plan.parse(told), 200);
  });
}
