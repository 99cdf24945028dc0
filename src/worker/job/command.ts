/** What a job's request means on the command line, and what must hold before it is accepted. */
import { readFile, stat } from "node:fs/promises";
import { dirname, isAbsolute, join, resolve } from "node:path";
import { InputError } from "../../core/errors.ts";
import { checkTextSize, utf8Text } from "../../core/folder-text.ts";
import { parseJsonText } from "../../core/json.ts";
import { budgetSeconds } from "../../core/loop/budget.ts";
import { checkTrainConfig } from "../../core/loop/check-train-config.ts";
import { AMBIGUOUS_TEACHER, STUDENT_TEACHER } from "../../core/loop/configured-method.ts";
import { isServed, namedFiles, type TrainConfig, trainConfigSchema } from "../../core/loop/train-config.ts";
import { METHOD_IDS } from "../../core/method/index.ts";
import { isOneOf } from "../../core/one-of.ts";
import { describeIssue } from "../../core/record/describe-issue.ts";
import { parseHubName } from "../../engine/hub/hub-client.ts";
import { fileError, isThere, passingFault, unlessPassing } from "../../node/file-error.ts";
import type { JobRequest } from "../../protocol/job.ts";
import { remoteConfig } from "../launch/remote-config.ts";

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

/** A job's config lies beside its output. A version that left a named one where it was has paths in its requests. */
export function configPath({ config }: TrainRequest, outFolder: string): string {
  return typeof config === "string" ? config : join(dirname(outFolder), "config.json");
}

/** One number is how many; one card of a certain number is a list with nothing after its comma. */
function cardsText(cards: number | readonly number[]): string {
  if (typeof cards === "number") return String(cards);
  return cards.length === 1 ? `${cards[0]},` : cards.join(",");
}

/**
 * Checks a request with the files that it names.
 *
 * @returns the request, with what a config's file holds in place of its path: the file may change before the run, or
 *   before the run goes on
 * @throws InputError naming the first key whose value, file or folder is not as it must be
 */
export async function checkedRequest(request: JobRequest, where: string): Promise<JobRequest> {
  if (request.kind === "score") {
    await checkScorer(request, where);
    await expectPath(request.in, "file", { file: where, key: "in" });
    return request;
  }
  if (typeof request.config === "string") {
    const file = request.config;
    const read = await checkConfigFile(file, where);
    const absolute = (path: string) => resolve(dirname(file), path);
    const { config } = await remoteConfig(read, { models: {} }, { file, absolute });
    return { ...request, config: { ...config }, config_file: file, device: request.device ?? config.device };
  }
  await checkConfig(request.config, where);
  const { config_file: _, ...own } = request;
  return own;
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

interface ConfigLocation {
  file: string;
  key: string;
  /** Folder that relative paths are taken from; none are expected without it. */
  from?: string;
}

/** A place in a config that came with a request, or in the file that the request names. */
const atKey =
  (where: string, file?: string) =>
  (key: string): ConfigLocation => {
    if (file === undefined) return { file: where, key: key === "" ? "config" : `config.${key}` };
    const inFile = key === "" ? file : `${file}, ${key}`;
    return { file: where, key: `config: ${inFile}`, from: dirname(file) };
  };

/**
 * A config that came with a request, or is in `file`, by its keys alone.
 *
 * @throws InputError with the key, after `config.` or the file
 */
export function configOfRequest(value: unknown, where: string, file?: string): TrainConfig {
  const at = atKey(where, file);
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

/** `checkConfig` for a file on the disk, with the file of its method. Its paths are taken from its folder. */
async function checkConfigFile(file: string, where: string): Promise<TrainConfig> {
  await expectPath(file, "file", { file: where, key: "config" });
  let value = await readJson(file, { file: where, key: "config" });
  const method = (value as { method?: unknown } | null)?.method;
  if (typeof method === "string" && !isOneOf(METHOD_IDS, method)) {
    const read = await readJson(resolve(dirname(file), method), atKey(where, file)("method"));
    value = { ...(value as object), method: read };
  }
  return checkConfig(value, where, file);
}

/** @throws InputError at `place`; a fault that passes as it is */
async function readJson(file: string, place: ConfigLocation): Promise<unknown> {
  try {
    checkTextSize((await stat(file)).size, file);
    return parseJsonText(utf8Text(await readFile(file), file), { file });
  } catch (error) {
    const problem = passingFault(error) === null ? fileError(error, file, "read") : error;
    throw problem instanceof InputError ? new InputError(problem.message, place) : problem;
  }
}

/**
 * Checks a config that came with a request, or is in `file`: its keys, and that every file and folder is there.
 *
 * @throws InputError with the key, after `config.` or the file
 */
export async function checkConfig(value: unknown, where: string, file?: string): Promise<TrainConfig> {
  const at = atKey(where, file);
  const config = configOfRequest(value, where, file);
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
    if (named === undefined) continue;
    if (key === "teacher" && named === STUDENT_TEACHER && file !== undefined) {
      if (isThere(resolve(dirname(file), named))) throw new InputError(AMBIGUOUS_TEACHER, at(key));
    }
    if (key === "teacher" && (isServed(named) || named === STUDENT_TEACHER)) continue;
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

function checkBudget(budget: NonNullable<TrainConfig["budget"]>, at: (key: string) => ConfigLocation): void {
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
  at: (key: string) => ConfigLocation,
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

async function expectPath(named: string, kind: "file" | "folder", where: ConfigLocation): Promise<void> {
  const path = where.from === undefined ? named : resolve(where.from, named);
  if (!isAbsolute(path)) {
    const model = /\.(teacher|student|calibrate_with|model)$/.test(`.${where.key}`);
    const name = model && /^[\w.-]+\/[\w.-]+(@[\w./-]+)?$/.test(path);
    const hub = name ? `, or a model of the hub by its name, as "hub:${path}"` : "";
    throw new InputError(`expected an absolute path${hub}, got ${JSON.stringify(path)}`, where);
  }
  const found = await stat(path).catch(unlessPassing);
  if (found !== null && (kind === "file" ? found.isFile() : found.isDirectory())) return;
  const instead =
    found === null ? "nothing" : found.isDirectory() ? "a folder" : found.isFile() ? "a file" : "neither";
  const expected = `expected a ${kind} on the worker's disk; at ${JSON.stringify(path)} there is ${instead}`;
  throw new InputError(expected, where);
}
