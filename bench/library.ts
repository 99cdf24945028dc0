/**
 * A library of the paper's size on disk: building its index beside plain JSON.parse of the same lines, retrieval and
 * rendering of every decision a task at a time with the peak memory of that, and the selection alone beside a plain
 * Python implementation on the same records. `npm run bench -- library [--tasks N] [--peer-tasks P]`.
 */
import { spawnSync } from "node:child_process";
import { once } from "node:events";
import { createWriteStream, mkdtempSync, readFileSync, rmSync, statSync, writeFileSync } from "node:fs";
import { cpus, loadavg, tmpdir } from "node:os";
import { join } from "node:path";
import { isDeepStrictEqual, parseArgs } from "node:util";
import { openIndexedFile, writeIndexFile } from "../src/cli/indexed-file.ts";
import { openBytes } from "../src/cli/io.ts";
import { openPreparedLibrary } from "../src/cli/prepared-library.ts";
import { openRanged } from "../src/cli/ranged-file.ts";
import { environmentRules } from "../src/core/environment/environment.ts";
import { evidenceInput, renderEvidence } from "../src/core/evidence/index.ts";
import type { Episode, RetrievalRecord, Source } from "../src/core/record/schema.ts";
import { prepareTask } from "../src/core/retrieval/prepare.ts";
import { retrieveEpisode } from "../src/core/retrieval/retrieve.ts";
import { buildIndex } from "../src/formats/indexed/index.ts";
import { LineSplitter } from "../src/formats/lines.ts";
import { rangedChunks } from "../src/formats/ranged-reader.ts";
import { readRecords } from "../src/formats/read.ts";
import { type SynthOptions, synthEpisodes, synthSources } from "../src/formats/synth/index.ts";
import { recordLine } from "../src/formats/write.ts";

const { values } = parseArgs({
  options: {
    tasks: { type: "string", default: "3017" },
    "peer-tasks": { type: "string", default: "600" },
    phase: { type: "string" },
    folder: { type: "string" },
  },
});
const TASKS = Number(values.tasks);
const PEER_TASKS = Math.min(TASKS, Number(values["peer-tasks"]));
const ROUNDS = 5;
const OPTIONS: SynthOptions = { tasks: TASKS, sources: 16, episodes: TASKS, seed: 2024 };

interface Measured {
  seconds: number;
  cpu: number;
  /** MiB of the whole process. */
  peak: number;
  count: number;
  /** What else a phase has to say. */
  extra?: number;
}

async function measure(work: () => Promise<{ count: number; extra?: number }>): Promise<Measured> {
  const start = performance.now();
  const before = process.cpuUsage();
  const done = await work();
  const { user, system } = process.cpuUsage(before);
  return {
    seconds: (performance.now() - start) / 1000,
    cpu: (user + system) / 1e6,
    peak: process.resourceUsage().maxRSS / 1024,
    ...done,
  };
}

/** Only the calls of JSON.parse are timed: the lines are read, split and decoded before, a few MB at a time. */
async function parsePhase(path: string): Promise<Measured> {
  const splitter = new LineSplitter("made.jsonl");
  const decoder = new TextDecoder();
  let seconds = 0;
  let cpu = 0;
  let count = 0;
  for await (const chunk of openBytes(path)) {
    const texts = [...splitter.lines(chunk)].map(({ bytes }) => decoder.decode(bytes));
    const start = performance.now();
    const before = process.cpuUsage();
    for (const text of texts) JSON.parse(text);
    const { user, system } = process.cpuUsage(before);
    seconds += (performance.now() - start) / 1000;
    cpu += (user + system) / 1e6;
    count += texts.length;
  }
  return { seconds, cpu, count, peak: process.resourceUsage().maxRSS / 1024 };
}

async function indexPhase(path: string): Promise<Measured> {
  const file = await openRanged(path);
  let tasks = 0;
  const measured = await measure(async () => {
    const index = await buildIndex(rangedChunks(file), { file: path });
    tasks = index.tasks.length;
    await writeIndexFile(path, file, index);
    return { count: index.tasks.reduce((sum, task) => sum + task.sources.length, 0) };
  });
  await file.close();
  return { ...measured, extra: tasks };
}

async function retrievePhase(sources: string, episodes: string): Promise<Measured> {
  return measure(async () => {
    const library = await openPreparedLibrary(sources);
    let count = 0;
    let characters = 0;
    for await (const { record: episode, line } of readRecords(openBytes(episodes), {
      file: episodes,
      kind: "episode",
    })) {
      const task = await library.taskOf(episode, { file: episodes, line });
      for (const { record } of retrieveEpisode(task, episode)) {
        characters += renderEvidence(evidenceInput(task, episode, record)).text.length;
        count++;
      }
    }
    await library.close();
    return { count, extra: characters };
  });
}

/** Preparation and selection on records in memory, written to a file for the comparison. */
async function selectPhase(sources: string, episodes: string, out: string): Promise<Measured> {
  const read = async <T>(path: string): Promise<T[]> =>
    readFileSync(path, "utf8")
      .trimEnd()
      .split("\n")
      .map((line) => JSON.parse(line) as T);
  const byTask = new Map<string, Source[]>();
  for (const source of await read<Source>(sources)) {
    const list = byTask.get(source.task);
    if (list === undefined) byTask.set(source.task, [source]);
    else list.push(source);
  }
  const rollouts = await read<Episode>(episodes);
  let records: RetrievalRecord[] = [];
  const select = (episodes: readonly Episode[]) => {
    for (const episode of episodes) {
      const task = prepareTask(byTask.get(episode.task) ?? [], environmentRules(episode.environment));
      for (const { record } of retrieveEpisode(task, episode)) records.push(record);
    }
  };
  // Some tasks first, so that compilation is not counted; and what reading left behind is cleared away.
  select(rollouts.slice(0, 100));
  records = [];
  globalThis.gc?.();
  const measured = await measure(async () => {
    select(rollouts);
    return { count: records.length };
  });
  writeFileSync(out, records.map(recordLine).join(""));
  return measured;
}

async function write(path: string, records: Iterable<object>): Promise<void> {
  const stream = createWriteStream(path);
  let batch = "";
  for (const record of records) {
    batch += recordLine(record);
    if (batch.length > 1 << 20) {
      if (!stream.write(batch)) await once(stream, "drain");
      batch = "";
    }
  }
  stream.end(batch);
  await once(stream, "finish");
}

const names = (folder: string) => ({
  sources: join(folder, "sources.jsonl"),
  episodes: join(folder, "episodes.jsonl"),
  someSources: join(folder, "peer-sources.jsonl"),
  someEpisodes: join(folder, "peer-episodes.jsonl"),
  ours: join(folder, "ours.jsonl"),
  theirs: join(folder, "theirs.jsonl"),
});

async function phase(name: string, folder: string): Promise<Measured> {
  const { sources, episodes, someSources, someEpisodes, ours } = names(folder);
  switch (name) {
    case "parse":
      return parsePhase(sources);
    case "index":
      return indexPhase(sources);
    case "retrieve":
      return retrievePhase(sources, episodes);
    case "select":
      return selectPhase(someSources, someEpisodes, ours);
    default:
      throw new Error(`no phase ${name}`);
  }
}

/** Each phase runs in a process of its own: its peak memory is its own, and no phase warms another up. */
function run(name: string, folder: string): Measured {
  const child = spawnSync(
    process.execPath,
    ["--expose-gc", process.argv[1]!, "--phase", name, "--folder", folder],
    {
      stdio: ["ignore", "pipe", "inherit"],
      encoding: "utf8",
    },
  );
  if (child.status !== 0) throw new Error(`phase ${name} failed`);
  return JSON.parse(child.stdout) as Measured;
}

function peer(folder: string, dictionary: boolean): Measured {
  const { someSources, someEpisodes, theirs } = names(folder);
  const args = ["bench/library_peer.py", someSources, someEpisodes, theirs];
  const child = spawnSync("python3", dictionary ? [...args, "--dictionary"] : args, {
    stdio: ["ignore", "pipe", "inherit"],
    encoding: "utf8",
  });
  if (child.status !== 0) throw new Error("the Python peer failed");
  return JSON.parse(child.stdout) as Measured;
}

/** The middle of an odd number of measurements. */
function median(all: readonly Measured[], key: "cpu" | "seconds"): number {
  return all.map((measured) => measured[key]).sort((a, b) => a - b)[all.length >> 1]!;
}

/** Decisions whose records differ. */
function differences(folder: string): number {
  const { ours, theirs } = names(folder);
  const [a, b] = [ours, theirs].map((path) => readFileSync(path, "utf8").trimEnd().split("\n"));
  let different = Math.abs(a!.length - b!.length);
  a!.forEach((line, i) => {
    if (b![i] === undefined || !isDeepStrictEqual(JSON.parse(line), JSON.parse(b![i]!))) different++;
  });
  return different;
}

async function main(): Promise<void> {
  const folder = mkdtempSync(join(tmpdir(), "gcopd-bench-"));
  try {
    const { sources, episodes, someSources, someEpisodes } = names(folder);
    await write(sources, synthSources(OPTIONS));
    await write(episodes, synthEpisodes(OPTIONS));
    const some = { ...OPTIONS, tasks: PEER_TASKS, episodes: PEER_TASKS };
    await write(someSources, synthSources(some));
    await write(someEpisodes, synthEpisodes(some));
    const size = statSync(sources).size / 1e6;

    const rounds: Record<"parse" | "index" | "select" | "scan" | "dictionary", Measured[]> = {
      parse: [],
      index: [],
      select: [],
      scan: [],
      dictionary: [],
    };
    let different = 0;
    // In turn, so that what else runs on the machine disturbs all alike.
    for (let i = 0; i < ROUNDS; i++) {
      rounds.parse.push(run("parse", folder));
      rounds.index.push(run("index", folder));
      rounds.select.push(run("select", folder));
      rounds.scan.push(peer(folder, false));
      different += differences(folder);
      rounds.dictionary.push(peer(folder, true));
      different += differences(folder);
    }
    const retrieve = run("retrieve", folder);
    const opened = await openIndexedFile(sources, { kind: "source" });
    const { decisions } = opened.library.counts;
    await opened.close();

    const number = (value: number) => value.toLocaleString("en", { maximumFractionDigits: 0 });
    const row = (...cells: string[]) => console.log(`| ${cells.join(" | ")} |`);
    row("", "work", "seconds", "CPU seconds", "least to most", "per CPU second", "peak MiB");
    row("---", "---:", "---:", "---:", "---:", "---:", "---:");
    const line = (name: string, all: readonly Measured[], amount: number, unit: string) => {
      const cpu = all.map((measured) => measured.cpu);
      row(
        name,
        `${number(amount)} ${unit}`,
        median(all, "seconds").toFixed(2),
        median(all, "cpu").toFixed(2),
        all.length === 1 ? "" : `${Math.min(...cpu).toFixed(2)} to ${Math.max(...cpu).toFixed(2)}`,
        `${number(amount / median(all, "cpu"))} ${unit}`,
        number(Math.max(...all.map(({ peak }) => peak))),
      );
    };
    const selected = rounds.select[0]!.count;
    line("JSON.parse of the lines, nothing else", rounds.parse, size, "MB");
    line("read the file, build and write its index", rounds.index, size, "MB");
    line("selection alone, records in memory", rounds.select, selected, "decisions");
    line("the same in Python, by scan", rounds.scan, selected, "decisions");
    line("the same in Python, by dictionary", rounds.dictionary, selected, "decisions");
    line("read, check, retrieve and render", [retrieve], retrieve.count, "decisions");
    const faster = (slow: readonly Measured[], fast: readonly Measured[], digits: number) => {
      const by = (key: "cpu" | "seconds") => (median(slow, key) / median(fast, key)).toFixed(digits);
      return `${by("cpu")} times by processor time, ${by("seconds")} by the clock`;
    };
    console.log(
      `\n${number(TASKS)} tasks of 16 executions with ${number(decisions)} decisions; ${number(TASKS)} episodes; evidence ` +
        `${number(retrieve.extra! / retrieve.count)} characters on average. Medians of ${ROUNDS}, taken in turn; the last row once.\n` +
        `Index against the speed of JSON.parse: ${faster(rounds.parse, rounds.index, 2)}.\n` +
        `Selection (of ${number(PEER_TASKS)} tasks, preparation included) against Python's by scan: ` +
        `${faster(rounds.scan, rounds.select, 1)}; by dictionary: ${faster(rounds.dictionary, rounds.select, 1)}. ` +
        `Records that differ from Python's: ${different}.`,
    );
    const load = loadavg().map((value) => value.toFixed(1));
    console.log(
      `Node ${process.versions.node}, ${cpus().length} threads of ${cpus()[0]?.model.trim()}; ` +
        `load average at the end ${load.join(", ")}.`,
    );
    if (different > 0) process.exitCode = 1;
  } finally {
    rmSync(folder, { recursive: true });
  }
}

if (values.phase === undefined) await main();
else console.log(JSON.stringify(await phase(values.phase, values.folder!)));
