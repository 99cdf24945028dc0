/** What the raw captures of all environments share: a name, and one clear error for what is wrong. */
import type { z } from "zod";
import { InputError } from "../errors.ts";
import { checkedBy } from "../record/describe-issue.ts";
import type { Located } from "./rules.ts";

/**
 * One parsed line checked with a schema, and its name (`case`, else `id`, else none).
 * Throws `InputError` with the key at fault.
 */
export function checkCapture<T extends { case?: string; id?: string }>(
  schema: z.ZodType<T>,
  raw: unknown,
  where: { file?: string; line?: number },
): { capture: T; id: Located["id"] } {
  const checked = checkedBy(schema, raw, where);
  const { case: name, id } = checked;
  return {
    capture: checked,
    id:
      name !== undefined ? { key: "case", value: name } : id !== undefined ? { key: "id", value: id } : null,
  };
}

/** The name of a capture that must have one. */
export function requireName(
  id: Located["id"],
  where: { file?: string; line?: number },
): NonNullable<Located["id"]> {
  if (id === null) throw new InputError("missing; expected string (or an `id`)", { ...where, key: "case" });
  return id;
}
