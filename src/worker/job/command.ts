/** What a job's request means on the command line, and what must hold before it is accepted. */
import { stat } from "node:fs/promises";
import { dirname, isAbsolute, join } from "node:path";
import { InputError } from "../../core/errors.ts";
import {
  checkTrainConfig,
  namedFiles,
  type TrainConfig,
  trainConfigSchema,
} from "../../core/loop/train-config.ts";
import { describeIssue } from "../../core/record/describe-issue.ts";
import { parseHubName } from "../../engine/hub/hub-client.ts";
import type { JobRequest } from "./job.ts";

type TrainRequest = Extract<JobRequest, { kind: "train" }>;

/** Name of a scoring job's result in its output folder. */
export const SCORES_FILE = "scores.jsonl";

/** Arguments of the `gcopd` command line. The same for each attempt: a training run goes on in its folder. */
export function commandArgs(request: JobRequest, outFolder: string): string[] {
  const files =
    request.kind === "score"
      ? ["--model", request.model, "--in", request.in, "--out", join(outFolder, SCORES_FILE)]
      : ["--config", configPath(request, outFolder), "--out", outFolder];
  const device = request.device === undefined ? [] : ["--device", request.device];
  const cards = request.cards === undefined ? [] : ["--cards", cardsText(request.cards)];
  const limit =
    request.memory_limit_gib === undefined ? [] : ["--memory-limit", String(request.memory_limit_gib)];
  return [request.kind, ...files, ...device, ...cards, ...limit, "--progress", "json"];
}

/** A config that came with the request lies beside the job's output. */
export function configPath({ config }: TrainRequest, outFolder: string): string {
  return typeof config === "string" ? config : join(dirname(outFolder), "config.json");
}

/** One number is how many; one card of a certain number is a list with nothing after its comma. */
function cardsText(cards: number | readonly number[]): string {
  if (typeof cards === "number") return String(cards);
  return cards.length === 1 ? `${cards[0]},` : cards.join(",");
}

/** @throws InputError naming the first key whose file or folder is not there. */
export async function checkFiles(request: JobRequest, where: string): Promise<void> {
  switch (request.kind) {
    case "score":
      await expectPath(request.model, "folder", { file: where, key: "model" });
      await expectPath(request.in, "file", { file: where, key: "in" });
      return;
    case "train":
      if (typeof request.config === "string")
        await expectPath(request.config, "file", { file: where, key: "config" });
      else await checkConfig(request.config, where);
  }
}

/**
 * Checks a config that came with a request: its keys, and that every file and folder is there.
 *
 * @throws InputError with the key, after `config.`
 */
export async function checkConfig(value: Record<string, unknown>, where: string): Promise<TrainConfig> {
  const at = (key: string) => ({ file: where, key: key === "" ? "config" : `config.${key}` });
  const checked = trainConfigSchema.safeParse(value);
  if (!checked.success) {
    const { key, message } = describeIssue(checked.error.issues[0]!, value);
    throw new InputError(message, at(key));
  }
  const config = checked.data;
  try {
    checkTrainConfig(config);
  } catch (error) {
    if (!(error instanceof InputError)) throw error;
    throw new InputError(error.reason, at(error.where.key ?? ""));
  }
  for (const key of ["library", "episodes"] as const)
    for (const [n, path] of namedFiles(config[key]).entries())
      await expectPath(path, "file", at(typeof config[key] === "string" ? key : `${key}[${n}]`));
  await checkPlace(config.environment, (key) => at(`environment.${key}`));
  await checkPlace(config.evaluate?.environment, (key) => at(`evaluate.environment.${key}`));
  if (typeof config.evaluate?.tasks === "string")
    await expectPath(config.evaluate.tasks, "file", at("evaluate.tasks"));
  for (const key of ["teacher", "student"] as const) {
    let hub: unknown = null;
    try {
      hub = parseHubName(config[key]);
    } catch (error) {
      throw error instanceof InputError ? new InputError(error.reason, at(key)) : error;
    }
    if (hub === null) await expectPath(config[key], "folder", at(key));
  }
  for (const key of ["parent", "tokenizer"] as const) {
    const path = config[key];
    if (path !== undefined) await expectPath(path, "folder", at(key));
  }
  return config;
}

/** Checks that the files of a live environment are there. */
async function checkPlace(
  environment: TrainConfig["environment"],
  at: (key: string) => { file: string; key: string },
): Promise<void> {
  if (environment === undefined) return;
  const { name, games = [], simulator, prompt, tasks } = environment;
  for (const path of typeof games === "string" ? [games] : games) {
    const isFile = name === "webshop" || /\.tw-pddl$/.test(path);
    await expectPath(path, isFile ? "file" : "folder", at("games"));
  }
  if (simulator !== undefined) {
    const isFile = /\.(whl|jar)$/.test(simulator);
    await expectPath(simulator, isFile ? "file" : "folder", at("simulator"));
  }
  if (prompt !== undefined) await expectPath(prompt, "file", at("prompt"));
  if (typeof tasks === "string") await expectPath(tasks, "file", at("tasks"));
}

async function expectPath(
  path: string,
  kind: "file" | "folder",
  where: { file: string; key: string },
): Promise<void> {
  if (!isAbsolute(path)) {
    const model = /\.(teacher|student|model)$/.test(`.${where.key}`);
    const name = model && /^[\w.-]+\/[\w.-]+(@[\w./-]+)?$/.test(path);
    const hub = name ? `, or a model of the hub by its name, as "hub:${path}"` : "";
    throw new InputError(`expected an absolute path${hub}, got ${JSON.stringify(path)}`, where);
  }
  const found = await stat(path).catch(() => null);
  if (found !== null && (kind === "file" ? found.isFile() : found.isDirectory())) return;
  const instead =
    found === null ? "nothing" : found.isDirectory() ? "a folder" : found.isFile() ? "a file" : "neither";
  const expected = `expected a ${kind} on the worker's disk; at ${JSON.stringify(path)} there is ${instead}`;
  throw new InputError(expected, where);
}
