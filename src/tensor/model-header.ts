import { InputError } from "../core/errors.ts";
import { readFolderText } from "../core/folder-text.ts";
import type { FolderReader } from "../core/ports.ts";
import { Checkpoint } from "./checkpoint.ts";
import { type ModelConfig, parseModelConfig } from "./config.ts";
import type { FloatFormat } from "./number-format.ts";
import { parameterShapes, storedNames } from "./weights.ts";

/**
 * A model folder's config and the format of most of its weights' bytes, without reading any weight. `InputError` where
 * the tensors that are there are not those of the config.
 */
export async function readModelHeader(
  folder: FolderReader,
): Promise<{ config: ModelConfig; stored: FloatFormat }> {
  const place = `${folder.name}/config.json`;
  if (!(await folder.list()).includes("config.json"))
    throw new InputError("this file is missing; expected a Hugging Face model folder", { file: place });
  const config = parseModelConfig(await readFolderText(folder, "config.json"), place);
  const checkpoint = await Checkpoint.open(folder);
  const stored = storedNames(checkpoint, config);
  for (const [name, shape] of parameterShapes(config)) checkpoint.format(stored(name), shape);
  const bytes: Record<FloatFormat, number> = { F32: 0, F16: 0, BF16: 0 };
  for (const { dtype, start, end } of checkpoint.tensors.values())
    if (Object.hasOwn(bytes, dtype)) bytes[dtype as FloatFormat] += end - start;
  const [[format]] = (Object.entries(bytes) as [FloatFormat, number][]).sort((a, b) => b[1] - a[1]) as [
    [FloatFormat, number],
  ];
  return { config, stored: format };
}
