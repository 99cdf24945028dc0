/** One kind of question to a server: how it is asked, and how its answer is read. */
import { z } from "zod";
import { InputError } from "../../core/errors.ts";
import { checkedBy } from "../../core/record/describe-issue.ts";
import type { Server } from "./server.ts";

export interface Exchange<Request, Result> {
  path: string;
  body(request: Request): object;
  /** @throws InputError when the answer is not one to the request */
  read(answer: unknown, request: Request): Result;
}

const refusal = z.union([
  z.looseObject({ error: z.looseObject({ message: z.string() }) }).transform(({ error }) => error.message),
  z.looseObject({ error: z.string() }).transform(({ error }) => error),
  z.looseObject({ message: z.string() }).transform(({ message }) => message),
  z.looseObject({ detail: z.string() }).transform(({ detail }) => detail),
]);

/** @throws InputError with the address when it is refused, not answered, or the answer is not one to the request */
export async function exchange<Request, Result>(
  server: Server,
  { path, body, read }: Exchange<Request, Result>,
  request: Request,
  signal?: AbortSignal,
): Promise<Result> {
  const { status, json } = await server.ask(path, body(request), { signal });
  if (status !== 200) {
    const said = refusal.safeParse(json).data;
    throw server.fault(path, `status ${status}${said === undefined ? "" : `: ${said}`}`);
  }
  return located(server, path, () => read(json, request));
}

/** `checkedBy`, with the address in the message. */
export function readAt<T>(server: Server, path: string, schema: z.ZodType<T>, json: unknown): T {
  return located(server, path, () => checkedBy(schema, json));
}

/** Adds the address to the message of bad input. */
function located<T>(server: Server, path: string, read: () => T): T {
  try {
    return read();
  } catch (error) {
    if (error instanceof InputError) throw server.fault(path, error.reason, error.where.key);
    throw error;
  }
}
