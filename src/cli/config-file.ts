/** JSON configs of commands: their paths are relative to the file. */
import { dirname, resolve } from "node:path";
import type { z } from "zod";
import { InputError } from "../core/errors.ts";
import { parseJsonText } from "../core/json.ts";
import { describeIssue } from "../core/record/describe-issue.ts";
import { parseHubName } from "../engine/hub/hub-client.ts";
import { readText } from "./io.ts";

/** @throws InputError that names file and key */
export async function readConfigFile<C>(schema: z.ZodType<C>, file: string): Promise<C> {
  const value = parseJsonText(await readText(file), { file });
  const checked = schema.safeParse(value);
  if (checked.success) return checked.data;
  const { key, message } = describeIssue(checked.error.issues[0]!, value);
  throw new InputError(message, key === "" ? { file } : { file, key });
}

/**
 * Does a check of what a config file says; its faults are told with the file's name.
 *
 * @param part what stands before the keys that the check names
 */
export function checkOf<T>(file: string, check: () => T, part = ""): T {
  try {
    return check();
  } catch (error) {
    if (!(error instanceof InputError)) throw error;
    const { key } = error.where;
    throw new InputError(error.reason, {
      ...error.where,
      file,
      ...(key === undefined ? {} : { key: `${part}${key}` }),
    });
  }
}

/** Takes a path from the folder of a config file. */
export const absoluteFrom =
  (file: string) =>
  (path: string): string =>
    resolve(dirname(file), path);

/**
 * The same for a model, which may be named as on the hub.
 *
 * @throws InputError for a name that looks like one of the hub's and is none
 */
export const absoluteModel =
  (file: string, key: string) =>
  (path: string): string => {
    try {
      return parseHubName(path) === null ? absoluteFrom(file)(path) : path;
    } catch (error) {
      if (!(error instanceof InputError)) throw error;
      throw new InputError(error.message, { file, key });
    }
  };
