/** JSON configs of commands: their paths are relative to the file. */
import { dirname, resolve } from "node:path";
import type { z } from "zod";
import { InputError } from "../core/errors.ts";
import { parseJsonText } from "../core/json.ts";
import { checkedBy } from "../core/record/describe-issue.ts";
import { parseHubName } from "../engine/hub/hub-client.ts";
import { readText } from "./io.ts";

/** @throws InputError that names file and key */
export async function readConfigFile<C>(schema: z.ZodType<C>, file: string): Promise<C> {
  return checkedBy(schema, parseJsonText(await readText(file), { file }), { file });
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
