import { type Command, Option } from "commander";
import { InputError } from "../../core/errors.ts";
import {
  caseTokens,
  checkOptimal,
  FEWEST_EPISODES,
  type GateCase,
  type GateDecision,
  type GateSummary,
  gateCase,
  gateDecision,
  gateLine,
  gateOrder,
  gateReport,
  summarizeGate,
} from "../../core/gate/index.ts";
import type { TextCodec } from "../../core/loop/index.ts";
import type { FolderReader, Scorer } from "../../core/ports.ts";
import type { OptimalActions } from "../../core/record/schema.ts";
import { keysOfSelection } from "../../core/retrieval/selection-keys.ts";
import { openModelFolder } from "../../engine/hub/node.ts";
import { openFolder } from "../../engine/native/node-folder.ts";
import { type RecordLine, readRecords } from "../../formats/read.ts";
import { readModelHeader, WEIGHT_CHOICES, type WeightChoice } from "../../tensor/index.ts";
import { openTokenizer, textCodec } from "../../text/index.ts";
import { plain, signed, table } from "../demo/table.ts";
import { openCompute } from "../engine/compute.ts";
import { howFar } from "../engine/how-far.ts";
import { interruptible } from "../engine/interrupt.ts";
import { groupTokens, KeptLines } from "../engine/kept-lines.ts";
import { downloaded, type EngineOptions, engineOptions, MODEL } from "../engine/options.ts";
import { openIndexedFile } from "../indexed-file.ts";
import { checkOut, fileLabel, openBytes, printLine, progress, writeOut, writeRecordsOut } from "../io.ts";
import { openPreparedLibrary } from "../prepared-library.ts";
import {
  addSubsetOptions,
  countFromOne,
  countFromZero,
  type SubsetOptions,
  subsetOf,
} from "../selection-options.ts";
import { filesDigest, modelDigest, tokenizerDigest } from "../train/fingerprint.ts";

interface Options extends Omit<EngineOptions, "progress">, SubsetOptions {
  library: string;
  episodes: string;
  optimal: string;
  teacher: string;
  tokenizer?: string;
  dtype: WeightChoice;
  sourcesPerTask?: number;
  augmentation: "on" | "off";
  limit?: number;
  seed: number;
  out: string;
  decisions?: string;
}

export function register(program: Command): void {
  engineOptions(
    addSubsetOptions(
      program
        .command("gate")
        .description(
          "Does evidence help the teacher? For decisions of student episodes whose optimal actions are known, the " +
            "teacher's probability of an optimal action without evidence, with hindsight only, minimum prefix, success " +
            "only and the full graph; paired differences with 95 % intervals over episodes. See docs/evidence-test.md.",
        )
        .requiredOption("--library <file>", "source records (.jsonl or .jsonl.gz)")
        .requiredOption("--episodes <file>", "student episodes (.jsonl or .jsonl.gz)")
        .requiredOption(
          "--optimal <file>",
          'a line per decision: {"task", "episode", "decision", "optimal": ["go to cabinet 1", …]}',
        )
        .requiredOption("--teacher <folder>", MODEL)
        .option("--tokenizer <folder>", "its tokenizer, where the model's folder has none")
        .addOption(
          new Option("--dtype <name>", "how the weights are kept on the device; auto: as they are stored")
            .choices(WEIGHT_CHOICES)
            .default("f32"),
        )
        .option(
          "--sources-per-task <K>",
          "source budget: only records with a repetition below K (planner and oracle records apart); all if absent",
          countFromOne,
        )
        .addOption(
          new Option("--augmentation <on|off>", "whether planner and oracle records take part")
            .choices(["on", "off"])
            .default("on"),
        ),
    )
      .option("--limit <count>", "score so many decisions, drawn by the seed; all if absent", countFromOne)
      .option("--seed <number>", "of the drawing and of the bootstrap", countFromZero, 0)
      .requiredOption("--out <file>", "the figures as JSON")
      .option("--decisions <file>", "also a line per decision (.jsonl or .jsonl.gz)"),
    { progress: false },
  ).action(run);
}

async function run(options: Options): Promise<void> {
  // What comes from standard input cannot be read again.
  const inputs = [options.library, options.episodes, options.optimal];
  const kept = inputs.includes("-") ? new KeptLines(undefined) : await KeptLines.beside(options.out);
  await interruptible((signal) => gate(options, kept, signal), kept);
}

async function gate(options: Options, kept: KeptLines, signal: AbortSignal): Promise<void> {
  for (const out of [options.out, options.decisions])
    await checkOut(out, options.library, options.episodes, options.optimal);
  const folder = await openModelFolder(options.teacher, {
    signal,
    onProgress: downloaded(),
    onNote: progress,
  });
  await readModelHeader(folder);
  const tokenizer = openFolder(options.tokenizer ?? folder.name);
  const codec = textCodec(await openTokenizer(tokenizer));
  const chosen = await chosenLines(options, signal);
  const records = await openRecords(options);
  try {
    await scoreChosen(options, { folder, tokenizer, chosen, records, codec, kept }, signal);
  } finally {
    await records.close();
  }
}

interface Scoring {
  folder: FolderReader;
  tokenizer: FolderReader;
  chosen: RecordLine<OptimalActions>[];
  records: Records;
  codec: TextCodec;
  kept: KeptLines;
}

async function scoreChosen(options: Options, scoring: Scoring, signal: AbortSignal): Promise<void> {
  const { folder, chosen, records, codec, kept } = scoring;
  const { seed } = options;
  const compute = await openCompute({ device: options.device, compute: options.compute, onNote: progress });
  try {
    const scorer = await compute.openScorer(folder.name, { weights: options.dtype, signal });
    const { info } = scorer;
    progress(
      `${info.model}: ${info.parameters} parameters on ${info.device} (${info.adapter}), ${info.dtype}`,
    );
    if (kept.path !== undefined) await kept.open(await identityOf(options, scoring, info));
    const leftOut: LeftOut[] = [];
    const scored: GateDecision[] = [];
    for await (const group of kept.lines() as AsyncGenerator<Record<string, unknown> & Group>) {
      scored.push(...group.scored);
      leftOut.push(...group.leftOut);
    }
    const rest = chosen.slice(scored.length + leftOut.length);
    const tell = howFar(
      () => `${scored.length} of ${chosen.length} decisions: ${meansText(summarizeGate(scored, seed))}`,
    );
    try {
      let before = leftOut.length;
      for await (const group of groups(
        cases(options, rest, records, codec, leftOut),
        groupTokens(compute.kind),
      )) {
        const found: Group = {
          scored: await scoreGroup(scorer, group, signal),
          leftOut: leftOut.slice(before),
        };
        before = leftOut.length;
        await kept.append([found]);
        scored.push(...found.scored);
        tell(undefined);
      }
    } finally {
      kept.close();
    }
    const summary = summarizeGate(scored, seed);
    if (summary.decisions === 0)
      throw new InputError(`no decision could be scored: ${leftOut[0]?.reason ?? "there is none"}`, {
        file: fileLabel(options.optimal),
      });
    const report = gateReport(summary, {
      seed,
      sources_per_task: options.sourcesPerTask ?? null,
      augmentation: options.augmentation === "on",
      ...keysOfSelection({ subset: subsetOf(options) }),
      teacher: info,
      left_out: leftOut,
    });
    if (options.decisions !== undefined) await writeRecordsOut(options.decisions, scored.map(gateLine));
    await writeOut(options.out, [`${JSON.stringify(report, null, 2)}\n`]);
    await kept.remove();
    if (leftOut.length > 0)
      progress(`${leftOut.length} decisions could not be scored, for example: ${leftOut[0]!.reason}`);
    printSummary(summary);
  } finally {
    compute.close();
  }
}

/** What is kept of a group of decisions. */
interface Group {
  scored: GateDecision[];
  leftOut: LeftOut[];
}

/** What decides the figures of each decision. */
async function identityOf(
  options: Options,
  { folder, tokenizer }: Scoring,
  { model, device, dtype }: Scorer["info"],
): Promise<object> {
  const { library, episodes, optimal, sourcesPerTask, augmentation, limit, seed } = options;
  return {
    weights: await modelDigest(folder),
    tokenizer: await tokenizerDigest(tokenizer.name),
    ...{ model, device, dtype, seed, limit, augmentation, sources_per_task: sourcesPerTask },
    ...keysOfSelection({ subset: subsetOf(options) }),
    files: await filesDigest([library, episodes, optimal]),
  };
}

type Records = Awaited<ReturnType<typeof openRecords>>;

/** The library and the episodes, both opened before a device is asked for. */
async function openRecords({ library: path, episodes: episodesPath, ...options }: Options) {
  const library = await openPreparedLibrary(path, {
    sourcesPerTask: options.sourcesPerTask,
    augmentation: options.augmentation === "on",
    subset: subsetOf(options),
  });
  try {
    const episodes = await openIndexedFile(episodesPath, { kind: "episode" });
    return { library, episodes, close: () => Promise.all([library.close(), episodes.close()]) };
  } catch (error) {
    await library.close();
    throw error;
  }
}

/** A decision without figures, and why. */
interface LeftOut {
  episode: string;
  decision: number;
  reason: string;
}

/** The decisions that are scored, in the order of the file. */
async function chosenLines(
  { optimal, seed, limit }: Options,
  signal: AbortSignal,
): Promise<RecordLine<OptimalActions>[]> {
  const file = fileLabel(optimal);
  const lines: RecordLine<OptimalActions>[] = [];
  for await (const line of readRecords(openBytes(optimal, signal), { file, kind: "optimal", signal }))
    lines.push(line);
  if (lines.length === 0) throw new InputError("holds no records", { file });
  return gateOrder(lines, seed, limit).sort((a, b) => a.line - b.line);
}

/** The decisions ready to be scored; one that cannot be is added to `leftOut`. */
async function* cases(
  { episodes: episodesPath, optimal }: Options,
  lines: readonly RecordLine<OptimalActions>[],
  { library, episodes }: Records,
  codec: TextCodec,
  leftOut: LeftOut[],
): AsyncGenerator<GateCase> {
  for (const { record, line } of lines) {
    const found = await episodes.library.readEpisode(record.episode);
    checkOptimal(record, found && { task: found.episode.task, decisions: found.episode.decisions.length }, {
      file: fileLabel(optimal),
      line,
    });
    const { episode } = found!;
    const prepared = await library.taskOf(episode, { file: fileLabel(episodesPath) });
    try {
      yield gateCase(prepared, episode, record, codec);
    } catch (error) {
      if (!(error instanceof InputError)) throw error;
      leftOut.push({ episode: record.episode, decision: record.decision, reason: error.message });
    }
  }
}

async function* groups(cases: AsyncIterable<GateCase>, atOnce: number): AsyncGenerator<GateCase[]> {
  let group: GateCase[] = [];
  let tokens = 0;
  for await (const each of cases) {
    group.push(each);
    tokens += caseTokens(each);
    if (tokens < atOnce) continue;
    yield group;
    group = [];
    tokens = 0;
  }
  if (group.length > 0) yield group;
}

async function scoreGroup(
  scorer: Pick<Scorer, "score">,
  group: readonly GateCase[],
  signal: AbortSignal,
): Promise<GateDecision[]> {
  const requests = group.flatMap((each, n) =>
    each.requests.map((request) => ({ ...request, id: `${n}/${request.id}` })),
  );
  const results = await scorer.score(requests, { signal });
  let at = 0;
  return group.map((each) => {
    const of = results.slice(at, at + each.requests.length);
    at += each.requests.length;
    return gateDecision(each, of);
  });
}

const meansText = ({ contexts }: GateSummary): string =>
  contexts.map(({ context, optimal }) => `${context} ${plain(optimal.value!, 3)}`).join(", ");

function printSummary({
  decisions,
  episodes,
  tasks,
  contexts,
  differences,
  studentOptimal,
}: GateSummary): void {
  printLine(
    `The teacher's probability of an optimal action: ${decisions} decisions of ${episodes} episodes, ${tasks} tasks. ` +
      `The student took an optimal action at ${studentOptimal}. 95 % intervals by bootstrap over episodes.`,
  );
  printLine();
  printLine(
    table(
      ["evidence", "mean", "from", "to", "context tokens"],
      contexts.map(({ context, optimal: { value, interval }, promptTokens }) => [
        context,
        plain(value!, 3),
        interval === null ? "" : plain(interval[0], 3),
        interval === null ? "" : plain(interval[1], 3),
        Math.round(promptTokens!),
      ]),
    ),
  );
  printLine();
  printLine(
    table(
      ["paired difference", "mean", "from", "to", "separated", "decisions that differ"],
      differences.map(({ from, to, difference: { value, interval }, separated, differing }) => [
        `${to} − ${from}`,
        signed(value!, 3),
        interval === null ? "" : signed(interval[0], 3),
        interval === null ? "" : signed(interval[1], 3),
        separated ? "yes" : "no",
        differing,
      ]),
    ),
  );
  if (episodes < FEWEST_EPISODES)
    printLine(`\nFewer than ${FEWEST_EPISODES} episodes separate nothing, whatever their interval.`);
}
