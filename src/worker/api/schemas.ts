/** Schemas and answers that several routes share. */
import { z } from "@hono/zod-openapi";
import { Refusal } from "../../protocol/refusal.ts";

/** OpenAPI name of the token's scheme. */
export const TOKEN_SCHEME = "token";

export const security = [{ [TOKEN_SCHEME]: [] }];

export function json<T extends z.ZodType>(schema: T, description: string) {
  return { description, content: { "application/json": { schema } } };
}

/**
 * Refusals that a route can answer beside 401 (no token), 403 (foreign Host or Origin) and 503 (a fault that passes),
 * which all can.
 */
export function refusals<S extends 400 | 404 | 408 | 409 | 413 | 415 | 416>(...statuses: S[]) {
  const text = {
    400: "The request is not valid.",
    401: "The token is missing or wrong.",
    403: "Host or Origin is not the worker's own.",
    404: "There is no such thing.",
    408: "The client stopped sending the body.",
    409: "The job's state does not allow it.",
    413: "The request is too large.",
    415: "The request is not JSON.",
    416: "The range lies outside the file.",
    503: "The disk or the list of jobs cannot be used now, or too much is asked at once: try again.",
  };
  const answers = {} as Record<S | 401 | 403 | 503, ReturnType<typeof json<typeof Refusal>>>;
  for (const status of [401, 403, 503, ...statuses] as const)
    answers[status as S] = json(Refusal, text[status]);
  return answers;
}

export const JobId = z.object({
  id: z.string().openapi({
    param: { name: "id", in: "path" },
    description: "Id of a job.",
    example: "train-4f1d0c9a2b7e",
  }),
});

/** Of files that are fetched whole or in part. */
export const RangeHeader = z.object({
  range: z
    .string()
    .regex(/^bytes=(\d+-\d*|-\d+)$/, "expected one range of bytes, for example bytes=0-1023")
    .optional(),
});
