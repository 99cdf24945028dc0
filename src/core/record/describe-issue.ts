/** One zod issue as the project words it: `decisions[3].state.key: expected string, received number`. */
import type { z } from "zod";
import { InputError } from "../errors.ts";

type Issue = z.core.$ZodIssue;

/** A path as one would write it in code: `decisions[3].state.key`. */
export function keyPath(path: readonly PropertyKey[]): string {
  let text = "";
  for (const part of path) {
    if (typeof part === "number") text += `[${part}]`;
    else if (/^[A-Za-z_$][\w$]*$/.test(String(part))) text += text === "" ? String(part) : `.${String(part)}`;
    else text += `[${JSON.stringify(String(part))}]`;
  }
  return text;
}

/** JSON's name of a value's type. */
export function jsonType(value: unknown): string {
  if (value === null) return "null";
  if (value === undefined) return "nothing";
  return Array.isArray(value) ? "array" : typeof value;
}

function valueAt(root: unknown, path: readonly PropertyKey[]): unknown {
  let value = root;
  for (const part of path) {
    if (typeof value !== "object" || value === null || !Object.hasOwn(value, part)) return undefined;
    value = (value as Record<PropertyKey, unknown>)[part];
  }
  return value;
}

/** A value as messages quote it: whole when short, cut with `...` when long, named when it is an object. */
export function shown(value: unknown): string {
  // What is long or deep is named, not written out: a file may nest deeper than a stack is high.
  if (typeof value === "object" && value !== null) return Array.isArray(value) ? "array" : "object";
  const text = JSON.stringify(value) ?? "nothing";
  return text.length > 60 ? `${text.slice(0, 57)}...` : text;
}

function expectation(issue: Issue, value: unknown): string {
  switch (issue.code) {
    case "invalid_type":
      return issue.expected === "int" && typeof value === "number"
        ? `expected integer, received ${shown(value)}`
        : `expected ${issue.expected === "record" ? "object" : issue.expected}, received ${jsonType(value)}`;
    case "invalid_value":
      return `expected ${issue.values.map((allowed) => JSON.stringify(allowed)).join(" or ")}, received ${shown(value)}`;
    case "too_small":
      return Array.isArray(value)
        ? `expected at least ${issue.minimum} ${issue.minimum === 1 ? "entry" : "entries"}, received ${value.length}`
        : `expected ${issue.inclusive === false ? "more than" : "at least"} ${issue.minimum}, received ${shown(value)}`;
    case "too_big":
      return Array.isArray(value)
        ? `expected at most ${issue.maximum} entries, received ${value.length}`
        : `expected at most ${issue.maximum}, received ${shown(value)}`;
    case "unrecognized_keys":
      return `unknown ${issue.keys.length === 1 ? "key" : "keys"} ${issue.keys.map((key) => JSON.stringify(key)).join(", ")}`;
    default:
      // Most schemas' own words say what is expected, and not what is there.
      return /^expected (?!.*received )/.test(issue.message) && typeof value !== "object"
        ? `${issue.message}, received ${shown(value)}`
        : issue.message;
  }
}

/** A fault of the alternative of a union that the writer most likely meant. */
function meant(issue: Issue): Issue {
  if (issue.code !== "invalid_union") return issue;
  // A wrong literal (another `kind`) or another type altogether says that the alternative was not meant.
  const likely = issue.errors.find((alternative) =>
    alternative.every((inner) => inner.code !== "invalid_value" && inner.path.length > 0),
  );
  const inner = (likely ?? issue.errors[0])?.[0];
  return inner === undefined ? issue : meant({ ...inner, path: [...issue.path, ...inner.path] });
}

/** The key at fault and one sentence about it. `root` is the value that was checked. */
export function describeIssue(issue: Issue, root: unknown): { key: string; message: string } {
  const found = meant(issue);
  const value = valueAt(root, found.path);
  const key = keyPath(found.path);
  const message = expectation(found, value);
  return {
    key,
    message: value === undefined ? `missing; ${message.replace(/, received nothing$/, "")}` : message,
  };
}

/**
 * A value as a schema has it.
 *
 * @throws InputError that names the place, the first key at fault and what was expected there
 */
export function checkedBy<T>(schema: z.ZodType<T>, value: unknown, where: InputError["where"] = {}): T {
  const checked = schema.safeParse(value);
  if (checked.success) return checked.data;
  const { key, message } = describeIssue(checked.error.issues[0]!, value);
  throw new InputError(message, key === "" ? where : { ...where, key });
}
