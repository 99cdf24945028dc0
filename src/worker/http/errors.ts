/** Every refusal of the API is `{ "error": "<one line>" }`. */
import type { HttpBindings } from "@hono/node-server";
import type { Context } from "hono";
import { HTTPException } from "hono/http-exception";
import type { ZodError } from "zod";
import { InputError } from "../../core/errors.ts";
import { plainLine } from "../../core/plain-text.ts";
import { passingFault } from "../../node/file-error.ts";
import { StoreFault } from "../job/store-fault.ts";
import { tell } from "../tell.ts";

export type ErrorStatus = 400 | 401 | 403 | 404 | 408 | 409 | 413 | 415 | 500 | 503;

/** A refusal with a status other than 400 (which is `InputError`'s). */
export class ApiError extends Error {
  override readonly name = "ApiError";
  constructor(
    readonly status: ErrorStatus,
    message: string,
  ) {
    super(plainLine(message.replace(/\s*[\n\r]\s*/g, " ")));
  }
}

/** Turns whatever a handler threw into the one-line answer. Unexpected errors are logged and not shown. */
export function answerError(error: Error, c: Context): Response {
  if (error instanceof InputError) return c.json({ error: error.message }, 400);
  if (error instanceof ApiError) return c.json({ error: error.message }, error.status);
  if (error instanceof HTTPException) {
    if (error.res) return error.getResponse();
    const reason = error.message === "" ? "refused" : error.message.replace(/\s*\n\s*/g, " ");
    const message = error.status === 415 ? "expected Content-Type: application/json" : reason;
    return c.json({ error: plainLine(`${c.req.method} ${c.req.path}: ${message}`) }, error.status);
  }
  const passing = passingFault(error);
  if (error instanceof StoreFault || passing !== null) {
    const reason = passing === null ? error.message : `${c.req.method} ${c.req.path}: ${passing}`;
    return c.json({ error: plainLine(`${reason}: try again`) }, 503, { "Retry-After": "1" });
  }
  // The client left before it had sent all: nobody hears the answer, and nothing is wrong here.
  const { incoming }: Partial<HttpBindings> = c.env ?? {};
  if (incoming?.destroyed && !incoming.complete) return c.json({ error: "the request broke off" }, 400);
  tell(error.stack ?? String(error));
  return c.json({ error: "internal error: see the worker's own output" }, 500);
}

/** The first problem of a request as one `InputError` that names the place and key, and what was expected. */
export function requestError(error: ZodError, where: string): InputError {
  const issue = error.issues[0];
  if (issue === undefined) return new InputError("not valid", { file: where });
  const key = issue.path.map(String).join(".");
  return new InputError(explain(issue), { file: where, key: key === "" ? undefined : key });
}

function explain(issue: ZodError["issues"][number]): string {
  switch (issue.code) {
    case "invalid_type": {
      const got = /received (\w+)/.exec(issue.message)?.[1];
      const found = got === undefined ? "" : `, got ${got === "undefined" ? "nothing" : got}`;
      return `expected ${issue.expected}${found}`;
    }
    case "invalid_value":
      return `expected ${issue.values.map((value) => JSON.stringify(value)).join(" or ")}`;
    case "invalid_union":
      if (!("options" in issue) || issue.options === undefined) return issue.message;
      return `expected ${issue.options.map((value) => JSON.stringify(value)).join(" or ")}`;
    case "unrecognized_keys":
      return `unknown key ${issue.keys.map((key) => JSON.stringify(key)).join(", ")}`;
    default:
      return issue.message;
  }
}
