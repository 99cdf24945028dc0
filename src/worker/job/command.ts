/** What a job's request means on the command line, and what must hold before it is accepted. */
import { stat } from "node:fs/promises";
import { dirname, isAbsolute, join } from "node:path";
import { InputError } from "../../core/errors.ts";
import { budgetSeconds } from "../../core/loop/budget.ts";
import {
  checkTrainConfig,
  isServed,
  namedFiles,
  type TrainConfig,
  trainConfigSchema,
} from "../../core/loop/train-config.ts";
import { describeIssue } from "../../core/record/describe-issue.ts";
import { parseHubName } from "../../engine/hub/hub-client.ts";
import type { JobRequest } from "../../protocol/job.ts";

type ScoreRequest = Extract<JobRequest, { kind: "score" }>;
type TrainRequest = Extract<JobRequest, { kind: "train" }>;

/** Name of a scoring job's result in its output folder. */
export const SCORES_FILE = "scores.jsonl";

/** Arguments of the `gcopd` command line. The same for each attempt: a training run goes on in its folder. */
export function commandArgs(request: JobRequest, outFolder: string): string[] {
  const files =
    request.kind === "score"
      ? [...scorer(request), "--in", request.in, "--out", join(outFolder, SCORES_FILE)]
      : ["--config", configPath(request, outFolder), "--out", outFolder];
  const device = request.device === undefined ? [] : ["--device", request.device];
  const cards = request.cards === undefined ? [] : ["--cards", cardsText(request.cards)];
  const limit =
    request.memory_limit_gib === undefined ? [] : ["--memory-limit", String(request.memory_limit_gib)];
  const budget =
    request.kind === "train" && request.hours !== undefined ? ["--hours", String(request.hours)] : [];
  return [request.kind, ...files, ...device, ...cards, ...limit, ...budget, "--progress", "json"];
}

/** What scores, in the words of the command line. */
function scorer(request: ScoreRequest): string[] {
  const { model, teacher, teacher_model: name, calibrate_with: own, tokenizer } = request;
  return Object.entries({
    "--model": model,
    "--url": teacher,
    "--served-model": name,
    "--calibrate-with": own,
    "--tokenizer": tokenizer,
  }).flatMap(([option, value]) => (value === undefined ? [] : [option, value]));
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
      await checkScorer(request, where);
      await expectPath(request.in, "file", { file: where, key: "in" });
      return;
    case "train":
      if (typeof request.config === "string")
        await expectPath(request.config, "file", { file: where, key: "config" });
      else await checkConfig(request.config, where);
  }
}

/** Keys that say more of a teacher on a server. */
const OF_SERVER = ["teacher_model", "calibrate_with", "tokenizer"] as const;

async function checkScorer(request: ScoreRequest, where: string): Promise<void> {
  const { model, teacher } = request;
  if ((model === undefined) === (teacher === undefined))
    throw new InputError("expected either `model`, a folder, or `teacher`, the address of a server", {
      file: where,
      key: "model",
    });
  if (model !== undefined) await expectPath(model, "folder", { file: where, key: "model" });
  if (teacher !== undefined && !isServed(teacher))
    throw new InputError(`expected the address of a server, got ${JSON.stringify(teacher)}`, {
      file: where,
      key: "teacher",
    });
  for (const key of OF_SERVER) {
    const value = request[key];
    if (value === undefined) continue;
    if (teacher === undefined) throw new InputError("only applies with `teacher`", { file: where, key });
    if (key !== "teacher_model") await expectPath(value, "folder", { file: where, key });
  }
  if (teacher !== undefined && request.calibrate_with === undefined && request.tokenizer === undefined)
    throw new InputError("missing: expected the folder of the tokenizer that wrote the ids", {
      file: where,
      key: "tokenizer",
    });
}

/** A place in a config that came with a request. */
const atKey = (where: string) => (key: string) => ({
  file: where,
  key: key === "" ? "config" : `config.${key}`,
});

/**
 * A config that came with a request, by its keys alone.
 *
 * @throws InputError with the key, after `config.`
 */
export function configOfRequest(value: Record<string, unknown>, where: string): TrainConfig {
  const at = atKey(where);
  const checked = trainConfigSchema.safeParse(value);
  if (!checked.success) {
    const { key, message } = describeIssue(checked.error.issues[0]!, value);
    throw new InputError(message, at(key));
  }
  try {
    checkTrainConfig(checked.data);
  } catch (error) {
    if (!(error instanceof InputError)) throw error;
    throw new InputError(error.reason, at(error.where.key ?? ""));
  }
  return checked.data;
}

/**
 * Checks a config that came with a request: its keys, and that every file and folder is there.
 *
 * @throws InputError with the key, after `config.`
 */
export async function checkConfig(value: Record<string, unknown>, where: string): Promise<TrainConfig> {
  const at = atKey(where);
  const config = configOfRequest(value, where);
  if (config.engines !== undefined)
    throw new InputError(
      "names commands, which the worker does not run: use `gcopd train` in a shell",
      at("engines"),
    );
  if (config.budget !== undefined) checkBudget(config.budget, at);
  for (const key of ["library", "episodes"] as const)
    for (const [n, path] of namedFiles(config[key]).entries())
      await expectPath(path, "file", at(typeof config[key] === "string" ? key : `${key}[${n}]`));
  for (const path of namedFiles(config.watch?.episodes)) await expectPath(path, "file", at("watch.episodes"));
  await checkPlace(config.environment, (key) => at(`environment.${key}`));
  await checkPlace(config.evaluate?.environment, (key) => at(`evaluate.environment.${key}`));
  if (typeof config.evaluate?.tasks === "string")
    await expectPath(config.evaluate.tasks, "file", at("evaluate.tasks"));
  for (const key of ["teacher", "student", "calibrate_with"] as const) {
    const named = config[key];
    if (named === undefined || (key === "teacher" && isServed(named))) continue;
    let hub: unknown = null;
    try {
      hub = parseHubName(named);
    } catch (error) {
      throw error instanceof InputError ? new InputError(error.reason, at(key)) : error;
    }
    if (hub === null) await expectPath(named, "folder", at(key));
  }
  for (const key of ["parent", "tokenizer"] as const) {
    const path = config[key];
    if (path !== undefined) await expectPath(path, "folder", at(key));
  }
  return config;
}

function checkBudget(
  budget: NonNullable<TrainConfig["budget"]>,
  at: (key: string) => { file: string; key: string },
): void {
  try {
    budgetSeconds(budget);
  } catch (error) {
    if (!(error instanceof InputError)) throw error;
    throw new InputError(error.reason, at(error.where.key ?? "budget"));
  }
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
    const model = /\.(teacher|student|calibrate_with|model)$/.test(`.${where.key}`);
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
