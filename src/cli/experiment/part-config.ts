/** The config of one part of an experiment in its folder: with it, its own command can run the part again. */
import { dirname } from "node:path";
import { InputError } from "../../core/errors.ts";
import { parseObject } from "../../formats/read.ts";
import { isThere } from "../../node/file-error.ts";
import { makeFolder } from "../../node/whole-file.ts";
import { readText, writeOut } from "../io.ts";

/**
 * Writes the config of a part.
 *
 * @throws InputError when the folder's part has another one
 */
export async function claim(file: string, config: object): Promise<void> {
  // The device may be another one on the next day, and a budget larger.
  const decisive = (value: object): string => {
    const rest = new Map(Object.entries(value));
    for (const key of ["device", "budget"]) rest.delete(key);
    return JSON.stringify([...rest]);
  };
  if (isThere(file)) {
    const kept = parseObject(await readText(file), { file });
    if (decisive(kept) !== decisive(config))
      throw new InputError(
        "this part began with another config; use another output folder or the same config",
        { file },
      );
  }
  await makeFolder(dirname(file));
  await writeJson(file, config);
}

export const writeJson = (file: string, value: unknown): Promise<void> =>
  writeOut(file, [`${JSON.stringify(value, null, 2)}\n`]);
