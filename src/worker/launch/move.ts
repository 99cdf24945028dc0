/** A run's config on its way from one target to another, over this machine. */
import { readFile } from "node:fs/promises";
import { isAbsolute, join } from "node:path";
import { parseJsonText } from "../../core/json.ts";
import { type TrainConfig, trainConfigSchema } from "../../core/loop/train-config.ts";
import { checkedBy } from "../../core/record/describe-issue.ts";
import { onFile } from "../../node/file-error.ts";
import type { Target } from "../../protocol/target.ts";
import { checkThere, type RemoteConfig, remoteConfig } from "./remote-config.ts";
import { ON_TARGET } from "./target.ts";

interface NamedTarget {
  name: string;
  is: Target;
}

/**
 * The config of a run that was brought to `folder`, as another target reads it. Models that both targets name are those of
 * the other; what went with the run goes with it again.
 *
 * @throws InputError for a path that is neither here nor on the other target; `Unreachable`
 */
export async function movedConfig(folder: string, from: Target, to: NamedTarget): Promise<RemoteConfig> {
  const file = join(folder, "config.json");
  const text = await onFile(file, "read", readFile(file, "utf8"));
  const config = checkedBy(trainConfigSchema, renamed(parseJsonText(text, { file }), from, to.is), { file });
  const remote = await remoteConfig(withoutPriceOf(config, from), to.is, {
    file,
    absolute: (path) => (isAbsolute(path) ? path : join(folder, path)),
    passing: (path) => path.startsWith(`${folder}/`),
  });
  await checkThere(to, remote.there, file);
  return remote;
}

/** With the names of models in place of their paths on `from`, where `to` has such a model. */
function renamed(value: unknown, from: Target, to: Target): unknown {
  if (typeof value === "string") {
    const name = Object.keys(from.models).find((each) => from.models[each] === value);
    return name !== undefined && Object.hasOwn(to.models, name) ? ON_TARGET + name : value;
  }
  if (Array.isArray(value)) return value.map((each) => renamed(each, from, to));
  if (typeof value !== "object" || value === null) return value;
  return Object.fromEntries(Object.entries(value).map(([key, each]) => [key, renamed(each, from, to)]));
}

/** GPUs and their price that the launch filled in from its target are those of the next one. */
function withoutPriceOf(config: TrainConfig, { gpus, price_per_gpu_hour: price }: Target): TrainConfig {
  const { budget, ...rest } = config;
  if (budget === undefined) return config;
  const own = Object.entries(budget).filter(
    ([key, value]) =>
      !(key === "gpus" && value === gpus) && !(key === "price_per_gpu_hour" && value === price),
  );
  return { ...rest, budget: Object.fromEntries(own) };
}
