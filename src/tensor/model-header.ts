import { InputError } from "../core/errors.ts";
import type { FolderReader } from "../core/ports.ts";
import { Checkpoint, readText } from "./checkpoint.ts";
import { type ModelConfig, parseModelConfig } from "./config.ts";
import type { FloatFormat } from "./number-format.ts";

/** A model folder's config and the format of most of its weights' bytes, without reading any weight. */
export async function readModelHeader(
  folder: FolderReader,
): Promise<{ config: ModelConfig; stored: FloatFormat }> {
  const place = `${folder.name}/config.json`;
  if (!(await folder.list()).includes("config.json"))
    throw new InputError("this file is missing; expected a Hugging Face model folder", { file: place });
  const config = parseModelConfig(await readText(folder, "config.json"), place);
  const checkpoint = await Checkpoint.open(folder);
  const bytes: Record<FloatFormat, number> = { F32: 0, F16: 0, BF16: 0 };
  for (const { dtype, start, end } of checkpoint.tensors.values())
    if (Object.hasOwn(bytes, dtype)) bytes[dtype as FloatFormat] += end - start;
  const [[stored]] = (Object.entries(bytes) as [FloatFormat, number][]).sort((a, b) => b[1] - a[1]) as [
    [FloatFormat, number],
  ];
  return { config, stored };
}
