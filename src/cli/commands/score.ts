import { setTimeout as sleep } from "node:timers/promises";
import { type Command, InvalidArgumentError, Option } from "commander";
import { InputError } from "../../core/errors.ts";
import { countOf } from "../../core/plural.ts";
import type { ScoreOptions, ScoreRequest, ScoreResult, Scorer } from "../../core/ports.ts";
import type { ScoreInput } from "../../core/record/schema.ts";
import { openModelFolder } from "../../engine/hub/node.ts";
import {
  type DeviceChoice,
  planWorkload,
  ReopeningScorer,
  type WorkloadSizes,
} from "../../engine/native/index.ts";
import { openFolder } from "../../engine/native/node-folder.ts";
import { calibrationSet, servedWords } from "../../engine/remote/index.ts";
import { readRecords } from "../../formats/read.ts";
import {
  checkPlan,
  describePlan,
  readModelHeader,
  WEIGHT_CHOICES,
  type WeightChoice,
} from "../../tensor/index.ts";
import { openTokenizer } from "../../text/index.ts";
import { UsageError } from "../command.ts";
import { checkIds, type ModelLimits } from "../engine/check-ids.ts";
import { type Compute, openCompute } from "../engine/compute.ts";
import { howFar } from "../engine/how-far.ts";
import { interruptible } from "../engine/interrupt.ts";
import { printJsonLine } from "../engine/json-lines.ts";
import { groupTokens, KeptLines } from "../engine/kept-lines.ts";
import { limitBytes, type MemoryOptions, memoryOptions, printPlan } from "../engine/memory-options.ts";
import { downloaded, type EngineOptions, engineOptions, MODEL } from "../engine/options.ts";
import { KEY_OF, openServedScorer, openServer } from "../engine/served.ts";
import { checkOut, fileLabel, openBytes, progress, writeRecordsOut } from "../io.ts";
import { filesDigest, modelDigest } from "../train/fingerprint.ts";

interface Options extends EngineOptions, MemoryOptions {
  model?: string;
  url?: string;
  servedModel?: string;
  tokenizer?: string;
  calibrateWith?: string;
  in: string;
  out?: string;
  dtype: WeightChoice;
  topK?: number;
  entropy?: boolean;
}

/** Most probable tokens that can be asked for. */
const MOST_TOP = 64;

/** Several cards end a reading together: with more of it, less time passes until the last is done. */
const UNITS_A_CARD = 4;
/** Milliseconds more before each further attempt to open a device again. */
const DEVICE_PAUSE = 2000;

export function register(program: Command): void {
  memoryOptions(
    engineOptions(
      program
        .command("score")
        .description(
          "Natural-log probabilities of each response token given all before it, at temperature 1. Each input line is " +
            '{"id", "prompt_ids", "response_ids"}, each output line {"id", "logprobs"}, in the same order.',
        )
        .option("--model <folder>", MODEL)
        .option(
          "--url <url>",
          `in place of --model: a server that runs it (vLLM or SGLang; its key in ${KEY_OF.teacher})`,
        )
        .option("--served-model <name>", "the model's name on the server, where it has several")
        .option("--tokenizer <folder>", "with --url: the tokenizer that wrote the ids")
        .option(
          "--calibrate-with <folder>",
          "with --url: the model's folder here. Three lines are scored by both first; log-probabilities that lie too far " +
            "apart are refused",
        )
        .requiredOption("--in <file>", "scoring records (.jsonl, .jsonl.gz, or - for standard input)")
        .option("--out <file>", "where to write (.gz is compressed); standard output if absent")
        .addOption(
          new Option("--dtype <name>", "how the weights are kept on the device; auto: as they are stored")
            .choices(WEIGHT_CHOICES)
            .default("f32"),
        ),
      { cards: true },
    ),
  )
    .option(
      "--top-k <number>",
      `also the most probable tokens in each response token's place, 1 to ${MOST_TOP}: "top_ids" and "top_logprobs"`,
      topK,
    )
    .option("--entropy", 'also the entropy of each of these distributions in nats: "entropy"')
    .action(run);
}

function topK(text: string): number {
  const value = Number(text);
  if (!Number.isInteger(value) || value < 1 || value > MOST_TOP)
    throw new InvalidArgumentError(`Expected a whole number from 1 to ${MOST_TOP}.`);
  return value;
}

async function run(options: Options): Promise<void> {
  const json = options.progress === "json";
  if (json && (options.out === undefined || options.out === "-")) {
    throw new UsageError("--progress json takes standard output: name a file with --out");
  }
  const { model, url } = options;
  if ((model === undefined) === (url === undefined))
    throw new UsageError("expected either --model with a folder or --url with the address of a server");
  // A stream of requests cannot be read again.
  const kept = options.in === "-" ? new KeptLines(undefined) : await KeptLines.beside(options.out);
  await interruptible(
    (signal) =>
      model === undefined
        ? runServed({ ...options, url: url!, kept }, signal, reporter(json))
        : runHere({ ...options, model, kept }, signal, reporter(json)),
    kept,
  );
}

/** Scores with a model that is opened here. */
async function runHere(
  options: Options & { model: string; kept: KeptLines },
  signal: AbortSignal,
  report: Reporter,
): Promise<void> {
  const { servedModel, tokenizer, calibrateWith, compute, cards, dtype: weights } = options;
  for (const [option, value] of Object.entries({
    "served-model": servedModel,
    tokenizer,
    "calibrate-with": calibrateWith,
  }))
    if (value !== undefined) throw new UsageError(`--${option} goes with --url`);
  const folder = await openModelFolder(options.model, {
    signal,
    onProgress: downloaded(),
    onNote: progress,
  });
  if (!options.plan) await checkOut(options.out, options.in);
  const { config } = await readModelHeader(folder);
  const { vocabularySize: vocabulary, maxPositions } = config;
  const sizes = await longest(options.in, { vocabulary, maxPositions }, signal);
  const limit = limitBytes(options.memoryLimit);
  const planned = (opened: Compute) =>
    planWorkload(opened.device, folder, { kind: "score", weights, ...sizes, limit });
  if (options.plan) {
    const opened = await openCompute({ device: options.device, compute, cards, onNote: progress });
    try {
      const { plan, packTokens } = await planned(opened);
      printPlan(plan, { pack_tokens: packTokens });
    } finally {
      opened.close();
    }
    return;
  }
  // A device that is opened again must be of the kind that the work began on.
  let device: DeviceChoice = options.device;
  let count = 1;
  const open = async () => {
    const opened = await openCompute({ device, compute, cards, onNote: progress });
    try {
      device = opened.kind;
      count = opened.count;
      const passes = await planned(opened);
      const { plan } = passes;
      checkPlan(plan, limit, opened.device.largestBuffer);
      if (opened.kind === "webgpu") progress(describePlan(plan));
      const scorer = await opened.openScorer(folder.name, { weights, ...passes, signal });
      return { scorer, close: () => opened.close() };
    } catch (error) {
      opened.close();
      throw error;
    }
  };
  const scorer = await ReopeningScorer.open(open, {
    onFault: async ({ message }, attempt, attempts) => {
      progress(`${message} Scoring again on a reopened device (${attempt} of ${attempts})`);
      await sleep(DEVICE_PAUSE * (attempt - 1), undefined, { signal });
    },
  });
  try {
    report.started(scorer);
    const limits = () => ({ vocabulary: scorer.info.vocabulary, maxPositions: scorer.opened.maxPositions });
    const atOnce = groupTokens(device) * (count === 1 ? 1 : count * UNITS_A_CARD);
    const of = options.kept.path === undefined ? {} : { weights: await modelDigest(folder) };
    await writeScores(options, of, { scorer, limits, atOnce, signal, report });
  } finally {
    scorer.dispose();
  }
}

/** Lines of a file that the ones for the comparison are chosen from: the first ones. */
const COMPARED_LINES = 64;

/** Scores with a model that another program serves. */
async function runServed(
  options: Options & { url: string; kept: KeptLines },
  signal: AbortSignal,
  report: Reporter,
): Promise<void> {
  const { url, in: path, dtype: weights, calibrateWith, servedModel: name } = options;
  if (options.topK !== undefined || options.entropy || options.plan)
    throw new UsageError("--top-k, --entropy and --plan go with --model");
  if (path === "-") throw new UsageError("--url needs a file: all lines are checked before any is sent");
  const watching = { onNote: progress, signal };
  const folder =
    calibrateWith === undefined
      ? null
      : await openModelFolder(calibrateWith, { ...watching, onProgress: downloaded() });
  const tokenizerIn =
    options.tokenizer ?? ((await folder?.list())?.includes("tokenizer.json") ? folder?.name : undefined);
  if (tokenizerIn === undefined)
    throw new UsageError("--tokenizer is missing: name the folder of the tokenizer that wrote the ids");
  const tokenizer = await openTokenizer(openFolder(tokenizerIn));
  await checkOut(options.out, options.in);
  const vocabulary =
    folder === null ? tokenizer.vocabularySize : (await readModelHeader(folder)).config.vocabularySize;
  const served = await openServer("teacher", url, { name, key: "--served-model" }, watching);
  const limits = { vocabulary, maxPositions: served.found.maxPositions ?? Number.POSITIVE_INFINITY };
  await longest(path, limits, signal);
  const first: ScoreInput[] = [];
  for await (const { record } of readRecords(openBytes(path), {
    file: fileLabel(path),
    kind: "score-input",
  })) {
    first.push(record);
    if (first.length === COMPARED_LINES) break;
  }
  const requests = calibrationSet(first.map(scoreRequest));
  const { device, compute: format, cards } = options;
  const limit = limitBytes(options.memoryLimit);
  const compute =
    folder === null ? null : await openCompute({ device, compute: format, cards, onNote: progress });
  let scorer: Scorer;
  try {
    const own = folder === null || compute === null ? null : { folder: folder.name, weights, compute, limit };
    ({ scorer } = await openServedScorer(served, requests, { tokenizer, vocabulary, own }, watching));
  } finally {
    compute?.close();
  }
  report.started(scorer);
  await writeScores(
    options,
    { url },
    { scorer, limits: () => limits, atOnce: groupTokens("auto"), signal, report },
  );
}

/** Scores all requests in groups of `atOnce` tokens. */
interface Scoring {
  scorer: Pick<Scorer, "score" | "info">;
  limits: () => ModelLimits;
  atOnce: number;
  signal: AbortSignal;
  report: Reporter;
}

/** Writes the output, and goes on with what an earlier attempt left of it. */
async function writeScores(
  options: Options & { kept: KeptLines },
  of: object,
  scoring: Scoring,
): Promise<void> {
  const { in: path, out, topK, entropy, kept } = options;
  const { model, device, dtype } = scoring.scorer.info;
  if (kept.path !== undefined) {
    const requests = await filesDigest([path]);
    await kept.open({ ...of, model, device, dtype, top_k: topK, entropy, requests });
  }
  try {
    await writeRecordsOut(out, scored(options, kept, scoring));
  } finally {
    kept.close();
  }
  await kept.remove();
  scoring.report.ended();
}

/**
 * The longest sequence and response of a file, whose lines are checked on the way; of a stream, which can be read once
 * only, what fills a pass.
 */
async function longest(
  path: string,
  limits: ModelLimits,
  signal: AbortSignal,
): Promise<Pick<WorkloadSizes, "longestSequence" | "longestResponse" | "allTokens">> {
  if (path === "-") return { longestSequence: 4096, longestResponse: 512 };
  let [longestSequence, longestResponse, allTokens] = [0, 0, 0];
  const file = fileLabel(path);
  for await (const { record, line } of readRecords(openBytes(path, signal), {
    file,
    kind: "score-input",
    signal,
  })) {
    checkIds(record, limits, { file, line });
    const length = record.prompt_ids.length + record.response_ids.length;
    allTokens += length;
    longestSequence = Math.max(longestSequence, length);
    longestResponse = Math.max(longestResponse, record.response_ids.length);
  }
  if (allTokens === 0) throw noRequests(file);
  return { longestSequence, longestResponse, allTokens };
}

async function* scored(
  { in: path, topK, entropy }: Options,
  kept: KeptLines,
  { scorer, limits, atOnce, signal, report }: Scoring,
): AsyncGenerator<object> {
  const file = fileLabel(path);
  let group: ScoreInput[] = [];
  let lines = 0;
  let tokens = 0;
  // Several cards do not tell.
  let computed: number | null = null;
  const work: ScoreOptions = {
    signal,
    ...(topK === undefined ? {} : { topK }),
    ...(entropy ? { entropy } : {}),
    onComputed: (done) => {
      computed = done.computed;
    },
    onProgress: (done) => report.within(done, group.length),
  };
  async function* flush(): AsyncGenerator<object> {
    const results = await scorer.score(group.map(scoreRequest), work);
    const records = results.map((result) => outputRecord(result, topK ?? 0));
    await kept.append(records);
    yield* records;
    report.progressed(group.length, tokens, computed);
    group = [];
    tokens = 0;
    computed = null;
  }
  let before = 0;
  for await (const record of kept.lines()) {
    before++;
    yield record;
  }
  report.resumed(before);
  for await (const { record, line } of readRecords(openBytes(path, signal), {
    file,
    kind: "score-input",
    signal,
  })) {
    checkIds(record, limits(), { file, line });
    if (lines < before) {
      lines++;
      continue;
    }
    group.push(record);
    lines++;
    tokens += record.prompt_ids.length + record.response_ids.length;
    if (tokens >= atOnce) yield* flush();
  }
  if (lines === 0) throw noRequests(file);
  if (group.length > 0) yield* flush();
}

const scoreRequest = ({ id, prompt_ids, response_ids }: ScoreInput): ScoreRequest => ({
  id,
  promptIds: prompt_ids,
  responseIds: response_ids,
});

const noRequests = (file: string) => new InputError("holds no requests", { file });

/** A line of the output; the most probable tokens are a list for each response token. */
function outputRecord({ id, logprobs, entropy, topIds, topLogprobs }: ScoreResult, top: number): object {
  const lists = (values: Uint32Array | Float32Array) =>
    Array.from(logprobs, (_, i) => Array.from(values.subarray(i * top, (i + 1) * top)));
  return {
    id,
    logprobs: Array.from(logprobs),
    ...(entropy === undefined ? {} : { entropy: Array.from(entropy) }),
    ...(topIds === undefined ? {} : { top_ids: lists(topIds) }),
    ...(topLogprobs === undefined ? {} : { top_logprobs: lists(topLogprobs) }),
  };
}

interface Reporter {
  started(scorer: Scorer): void;
  /** Lines that an earlier attempt scored. */
  resumed(lines: number): void;
  /** How far the present group of lines is. */
  within(progress: { done: number; total: number; unit: string }, lines: number): void;
  /** `tokens` of the lines, and how many were computed: fewer where lines share their first tokens. */
  progressed(lines: number, tokens: number, computed: number | null): void;
  ended(): void;
}

/** Progress as text on standard error, or as events on standard output. */
function reporter(json: boolean): Reporter {
  const total: { lines: number; tokens: number; computed?: number } = { lines: 0, tokens: 0 };
  const began = performance.now();
  const seconds = () => (performance.now() - began) / 1000;
  const tell = howFar((text: string) => text);
  return {
    started({ info }) {
      if (json) printJsonLine({ type: "start", model: info });
      else if (info.served !== undefined) progress(servedWords(info));
      else
        progress(
          `${info.model}: ${info.parameters} parameters on ${info.device} (${info.adapter}), ${info.dtype}`,
        );
    },
    resumed(lines) {
      total.lines += lines;
    },
    within({ done, total: all, unit }, lines) {
      if (!json) tell(`${countOf(total.lines, "line")}; ${done} of ${all} ${unit} of the next ${lines}`);
    },
    progressed(lines, tokens, computed) {
      total.lines += lines;
      total.tokens += tokens;
      if (computed !== null) total.computed = (total.computed ?? 0) + computed;
      if (json) printJsonLine({ type: "progress", ...total, seconds: seconds() });
      else tell(`${countOf(total.lines, "line")}, ${countOf(total.tokens, "token")}`);
    },
    ended() {
      if (json) printJsonLine({ type: "done", ...total, seconds: seconds() });
      else {
        const rate = (total.tokens / seconds()).toFixed(0);
        const computed = total.computed === undefined ? "" : ` (${total.computed} computed)`;
        progress(
          `${countOf(total.lines, "line")}, ${countOf(total.tokens, "token")}${computed} in ${seconds().toFixed(1)} s (${rate} tokens/s)`,
        );
      }
    },
  };
}
