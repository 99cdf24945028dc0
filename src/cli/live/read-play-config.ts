import type { z } from "zod";
import { checkOf, InputError } from "../../core/errors.ts";
import { type EnvironmentConfig, type PlayConfig, taskOrigin } from "../../core/loop/index.ts";
import { parseHubName } from "../../engine/hub/hub-client.ts";
import { absoluteFrom, absoluteModel, checkModel, readConfigFile } from "../config-file.ts";
import { checkTokenizer } from "../train/run-tokenizer.ts";
import { modelOfRun, tokenizerFolder } from "./policy-folders.ts";
import { readTaskFile } from "./task-file.ts";

/**
 * Reads the config of a collection or an evaluation. Its paths are taken from the folder of the file.
 *
 * @param given options in place of its keys
 * @throws InputError that names file and key
 */
export async function readPlayConfig<C extends PlayConfig>(
  schema: z.ZodType<C>,
  file: string,
  given: Pick<Partial<PlayConfig>, "policy" | "device"> = {},
): Promise<C> {
  const config = { ...(await readConfigFile(schema, file)), ...given };
  const served = config.policy !== undefined;
  if (!served && config.policy_model !== undefined)
    throw new InputError("only applies with `policy`", { file, key: "policy_model" });
  if (!served && config.model === undefined)
    throw new InputError("missing; expected the policy's model, or a server at `policy`", {
      file,
      key: "model",
    });
  // Of a model that a server runs, only the tokenizer has to be here.
  const check = served ? () => undefined : async (named: string) => checkModel(await modelOfRun(named));
  const read = {
    ...config,
    environment: await resolvedEnvironment(config.environment, file),
    ...(config.model === undefined ? {} : { model: await absoluteModel(file, "model", config.model, check) }),
    ...(config.tokenizer === undefined ? {} : { tokenizer: absoluteFrom(file)(config.tokenizer) }),
  };
  await checkPolicyTokenizer(read, file);
  return read;
}

/** @throws InputError for a policy without a sound tokenizer. That of a model of the hub is known only once it is here. */
async function checkPolicyTokenizer({ model, tokenizer, policy }: PlayConfig, file: string): Promise<void> {
  const here = model === undefined || parseHubName(model) !== null ? undefined : model;
  const folder = tokenizer ?? (here === undefined ? null : await tokenizerFolder(here));
  if (folder === null && policy === undefined && here === undefined) return;
  if (folder === null)
    throw new InputError(
      policy === undefined
        ? `missing: the model's folder has no tokenizer.json (${here}); expected a folder with its tokenizer`
        : "missing; expected a folder with the tokenizer of the model that the server runs",
      { file, key: "tokenizer" },
    );
  const weights = policy !== undefined || here === undefined ? undefined : await modelOfRun(here);
  await checkTokenizer({ file, key: tokenizer === undefined ? "model" : "tokenizer" }, folder, weights);
}

/**
 * An environment with its paths taken from the folder of the config file, and its list of tasks read.
 *
 * @param part what stands before its keys in the file
 * @throws InputError that names file and key, and for a list of tasks that cannot be read
 */
export async function resolvedEnvironment(
  environment: EnvironmentConfig,
  file: string,
  part = "",
): Promise<EnvironmentConfig> {
  checkOf(file, () => taskOrigin(environment), part);
  const absolute = absoluteFrom(file);
  const { name, games, simulator, prompt, tasks } = environment;
  return {
    ...environment,
    ...(games === undefined
      ? {}
      : { games: typeof games === "string" ? absolute(games) : games.map(absolute) }),
    ...(simulator === undefined ? {} : { simulator: absolute(simulator) }),
    ...(prompt === undefined ? {} : { prompt: absolute(prompt) }),
    ...(typeof tasks === "string" ? { tasks: await readTaskFile(absolute(tasks), name) } : {}),
  };
}

/** The same for what may have an environment of its own, or tasks of another's. */
export async function withPlace<
  C extends { environment?: EnvironmentConfig | undefined; tasks?: EnvironmentConfig["tasks"] },
>(config: C, file: string, part: string, inherited?: EnvironmentConfig): Promise<C> {
  const { environment, tasks } = config;
  const name = (environment ?? inherited)?.name;
  return {
    ...config,
    ...(environment === undefined ? {} : { environment: await resolvedEnvironment(environment, file, part) }),
    ...(typeof tasks === "string" && name !== undefined
      ? { tasks: await readTaskFile(absoluteFrom(file)(tasks), name) }
      : {}),
  };
}
