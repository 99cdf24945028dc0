/** Answers of the worker's API: in the form that the page reads, or one clear error. For the page and its Web Workers. */
import type { z } from "zod";
import { EnvironmentError, InputError } from "../../../core/errors.ts";
import { describeIssue } from "../../../core/record/describe-issue.ts";
import { Refusal } from "../../../protocol/refusal.ts";
import { isAbort } from "../../base/faults.ts";

/** The worker could not be reached, or its answer broke off: another try may do. */
export class WorkerAway extends EnvironmentError {
  constructor(file?: string) {
    super(
      "the worker does not answer: check that it still runs and that the connection to it is up",
      file === undefined ? {} : { file },
    );
  }
}

/** Whether the worker did answer: it refused, or its answer has another form. */
export const isRefusal = (error: unknown): error is InputError =>
  error instanceof InputError && !(error instanceof WorkerAway);

/**
 * What the worker sends: an answer, or the body of one.
 *
 * @param file the file that is read, where it is one
 * @throws WorkerAway in place of `fetch`'s own error; an abort as it is
 */
export async function reached<T>(sent: Promise<T>, file?: string): Promise<T> {
  try {
    return await sent;
  } catch (error) {
    throw isAbort(error) ? error : new WorkerAway(file);
  }
}

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
