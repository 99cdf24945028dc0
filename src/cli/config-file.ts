/** JSON configs of commands: their paths are relative to the file. */
import { dirname, resolve } from "node:path";
import type { z } from "zod";
import { InputError } from "../core/errors.ts";
import { parseJsonText } from "../core/json.ts";
import { checkedBy } from "../core/record/describe-issue.ts";
import { parseHubName } from "../engine/hub/hub-client.ts";
import { openFolder } from "../engine/native/node-folder.ts";
import { readModelHeader } from "../tensor/index.ts";
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
 * The same for a model, which may be named as on the hub. A folder is checked before anything starts: its config.json
 * and the headers of its weights are read.
 *
 * @param check of the folder, where it need not hold a model as it is
 * @throws InputError that names the config's file and key, for a folder without a sound model and for a name that looks
 *   like one of the hub's and is none
 */
export async function absoluteModel(
  file: string,
  key: string,
  named: string,
  check: (folder: string) => unknown = checkModel,
): Promise<string> {
  return toldAt({ file, key }, async () => {
    if (parseHubName(named) !== null) return named;
    const path = absoluteFrom(file)(named);
    await check(path);
    return path;
  });
}

/** Does `work`; its InputErrors name a config's file and key instead of their own. */
export async function toldAt<T>(where: { file: string; key: string }, work: () => Promise<T>): Promise<T> {
  try {
    return await work();
  } catch (error) {
    if (!(error instanceof InputError)) throw error;
    throw new InputError(error.message, where);
  }
}

/** @throws InputError for a folder without a sound model; no weight is read */
export async function checkModel(folder: string): Promise<void> {
  await readModelHeader(openFolder(folder));
}
