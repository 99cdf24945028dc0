import { dirname, resolve } from "node:path";
import { InputError } from "../../core/errors.ts";
import { configuredMethod, type TrainConfig, trainConfigSchema } from "../../core/loop/train-config.ts";
import { describeIssue } from "../../core/record/describe-issue.ts";
import { readText } from "../io.ts";

const PATHS = ["library", "episodes", "teacher", "student", "tokenizer"] as const;

/**
 * Reads a training config. Its paths are taken from the folder of the file.
 *
 * @throws InputError that names file and key
 */
export async function readTrainConfig(file: string): Promise<TrainConfig> {
  let value: unknown;
  try {
    value = JSON.parse(await readText(file));
  } catch (error) {
    if (error instanceof InputError) throw error;
    throw new InputError(`not JSON: ${error instanceof Error ? error.message : String(error)}`, { file });
  }
  const checked = trainConfigSchema.safeParse(value);
  if (!checked.success) {
    const { key, message } = describeIssue(checked.error.issues[0]!, value);
    throw new InputError(message, key === "" ? { file } : { file, key });
  }
  const config = checked.data;
  const { stages } = scheduleOf(config, file);
  if (config.library === undefined && stages.some(({ evidence }) => evidence.kind !== "none")) {
    throw new InputError("missing: graph-conditioned stages retrieve from it", { file, key: "library" });
  }
  for (const key of PATHS) {
    const path = config[key];
    if (path !== undefined) config[key] = resolve(dirname(file), path);
  }
  return config;
}

/** The schedule, its faults told with the file's name. */
function scheduleOf(config: TrainConfig, file: string) {
  try {
    return configuredMethod(config);
  } catch (error) {
    if (!(error instanceof InputError)) throw error;
    throw new InputError(error.message, { file });
  }
}
