/** Answers of the worker's API: in the form that the page reads, or one clear error. For the page and its Web Workers. */
import type { z } from "zod";
import { EnvironmentError, InputError } from "../../../core/errors.ts";
import { describeIssue } from "../../../core/record/describe-issue.ts";
import { Refusal } from "../../../protocol/refusal.ts";

/**
 * An answer in its form.
 *
 * @param route as `GET /api/jobs`
 * @param text the body as it came
 * @throws InputError that names the route, the first key that is not as expected, and what was
 */
export function readAnswer<T>(schema: z.ZodType<T>, route: string, text: string): T {
  let value: unknown;
  try {
    value = JSON.parse(text);
  } catch {
    throw new InputError("expected an answer in JSON: is the worker of another version?", { file: route });
  }
  const checked = schema.safeParse(value);
  if (checked.success) return checked.data;
  const { key, message } = describeIssue(checked.error.issues[0]!, value);
  throw new InputError(`${message}: is the worker of another version?`, {
    file: route,
    ...(key === "" ? {} : { key }),
  });
}

/**
 * The worker's own line for a refusal, as an `EnvironmentError` where another try may do; where the answer is not one of its
 * refusals, its status.
 */
export function readRefusal(route: string, status: number, text: string): InputError {
  let value: unknown;
  try {
    value = JSON.parse(text);
  } catch {
    value = null;
  }
  const { data } = Refusal.safeParse(value);
  return data === undefined
    ? new InputError(`the worker answered ${status}`, { file: route })
    : new (status === 503 ? EnvironmentError : InputError)(data.error);
}
