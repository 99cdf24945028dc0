/** A shop served by the contract of the released WebShop server: `gcopd worker --shop FILE`. */
import { readFile } from "node:fs/promises";
import { createRoute, type OpenAPIHono, z } from "@hono/zod-openapi";
import type { Context } from "hono";
import { InputError } from "../../core/errors.ts";
import { onFile } from "../../node/file-error.ts";
import { readCatalogue } from "../../simulator/webshop/catalogue.ts";
import {
  closeAnswer,
  closeRequest,
  goalAnswer,
  goalRequest,
  healthAnswer,
  replayAnswer,
  replayRequest,
  resetAnswer,
  resetRequest,
  stepAnswer,
  stepRequest,
} from "../../simulator/webshop/contract.ts";
import { ShopService } from "../../simulator/webshop/service.ts";
import { Shop } from "../../simulator/webshop/shop.ts";
import { ApiError } from "../http/errors.ts";
import { json, refusals, security } from "./schemas.ts";

const ROOT = "/api/shop";

/** @throws InputError for a file that is not a catalogue. */
export async function openShop(file: string): Promise<ShopService> {
  const text = await onFile(file, "read", readFile(file, "utf8"));
  return new ShopService(new Shop(readCatalogue(text, file)));
}

const refused = json(
  z.object({ ok: z.literal(false), error: z.string() }),
  "The shop refuses: the status that the released server gives.",
);

function get<Q extends z.ZodObject, A extends z.ZodType>(path: string, summary: string, query: Q, answer: A) {
  return createRoute({
    method: "get",
    path: `${ROOT}/${path}`,
    tags: ["shop"],
    summary,
    security,
    request: { query },
    responses: { 200: json(answer, "The shop's answer."), 500: refused, ...refusals(400, 404) },
  });
}

function post<B extends z.ZodType, A extends z.ZodType>(path: string, summary: string, body: B, answer: A) {
  return createRoute({
    method: "post",
    path: `${ROOT}/${path}`,
    tags: ["shop"],
    summary,
    security,
    request: { body: { required: true, content: { "application/json": { schema: body } } } },
    responses: { 200: json(answer, "The shop's answer."), 500: refused, ...refusals(400, 404, 413, 415) },
  });
}

const health = get("health", "What the shop holds and how it was made", z.object({}), healthAnswer);
const goal = get("goal", "Show a goal", goalRequest, goalAnswer);
const reset = post("reset", "Begin an episode", resetRequest, resetAnswer);
const step = post("step", "Do one action in an episode", stepRequest, stepAnswer);
const replay = post("replay", "Play actions from the start page", replayRequest, replayAnswer);
const close = post("close", "End an episode", closeRequest, closeAnswer);

/** `service` is null for a worker that serves no shop. */
export function shopRoutes(app: OpenAPIHono, service: ShopService | null): void {
  const answer = <T>(c: Context, ask: (shop: ShopService) => T) => {
    if (service === null) throw new ApiError(404, "this worker serves no shop: start it with --shop FILE");
    try {
      return c.json(ask(service), 200);
    } catch (error) {
      if (!(error instanceof InputError)) throw error;
      return c.json({ ok: false as const, error: error.message }, 500);
    }
  };
  app.openapi(health, (c) => answer(c, (shop) => shop.health()));
  app.openapi(goal, (c) => answer(c, (shop) => shop.goal(c.req.valid("query"))));
  app.openapi(reset, (c) => answer(c, (shop) => shop.reset(c.req.valid("json"))));
  app.openapi(step, (c) => answer(c, (shop) => shop.step(c.req.valid("json"))));
  app.openapi(replay, (c) => answer(c, (shop) => shop.replay(c.req.valid("json"))));
  app.openapi(close, (c) => answer(c, (shop) => shop.close(c.req.valid("json"))));
}
