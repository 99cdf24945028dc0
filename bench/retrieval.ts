/**
 * Decisions per second and memory of retrieval, and of retrieval with rendering, on the ScienceWorld fixture repeated
 * to 1,000 tasks under new names, beside a plain scan over all visits that does the same without an index.
 */
import { cpus } from "node:os";
import { isDeepStrictEqual } from "node:util";
import { environmentRules } from "../src/core/environment/environment.ts";
import { evidenceInput, renderEvidence } from "../src/core/evidence/index.ts";
import type { Episode, Source } from "../src/core/record/schema.ts";
import { type PreparedTask, prepareTask, retrieve, retrieveEpisode } from "../src/core/retrieval/index.ts";
import { bruteForceRetrieve } from "../test/support/brute-force-retrieval.ts";
import { byTask, fixtureEpisodes, fixtureSources } from "../test/support/scienceworld.ts";

const TASKS = Number(process.env.TASKS ?? 1000);
/** The plain scan is slow: it runs on the first so many tasks, and its speed is given per decision as well. */
const SCANNED_TASKS = Math.min(TASKS, 110);

/** Benchmarks run in the root of the repository. */
const FIXTURE = "test/fixtures/scienceworld";

const rules = environmentRules("scienceworld");

interface Task {
  sources: Source[];
  episodes: Episode[];
}

/** Copies of the fixture's tasks that share nothing: what a library of that size takes in memory. */
function repeated(count: number): Task[] {
  const sources = byTask(fixtureSources(FIXTURE));
  const episodes = byTask(fixtureEpisodes(FIXTURE));
  const originals = [...sources].map(([task, records]) =>
    JSON.stringify({ sources: records, episodes: episodes.get(task) ?? [] }),
  );
  return Array.from({ length: count }, (_, i) => {
    const copy = JSON.parse(originals[i % originals.length]!) as Task;
    const task = (record: { task: string }) => `${record.task}#${Math.floor(i / originals.length)}`;
    return {
      sources: copy.sources.map((source) => ({ ...source, task: task(source) })),
      episodes: copy.episodes.map((episode) => ({
        ...episode,
        task: task(episode),
        episode: `${episode.episode}#${i}`,
      })),
    };
  });
}

const rows: string[][] = [];

function measure(name: string, unit: string, work: () => number): void {
  const start = performance.now();
  const before = process.cpuUsage();
  const count = work();
  const { user, system } = process.cpuUsage(before);
  const wall = (performance.now() - start) / 1000;
  // Rates are by processor time, which other programs on the machine disturb less.
  const seconds = (user + system) / 1e6;
  const each = (seconds / count) * 1e6;
  rows.push([
    name,
    `${count.toLocaleString("en")} ${unit}`,
    wall.toFixed(2),
    seconds.toFixed(2),
    Math.round(count / seconds).toLocaleString("en"),
    each < 10 ? each.toFixed(2) : each.toFixed(0),
  ]);
}

const megabytes = (bytes: number) => `${Math.round(bytes / 2 ** 20).toLocaleString("en")} MiB`;
const settledHeap = () => {
  globalThis.gc?.();
  return process.memoryUsage().heapUsed;
};

const empty = settledHeap();
const tasks = repeated(TASKS);
const loaded = settledHeap();

// Warm up on one copy of the fixture, so that no row pays for compilation.
for (const { sources, episodes } of repeated(11)) {
  const task = prepareTask(sources, rules);
  for (const episode of episodes) {
    for (const { record } of retrieveEpisode(task, episode)) {
      retrieve(task, episode, record.decision);
      renderEvidence(evidenceInput(task, episode, record));
      bruteForceRetrieve(sources, episode, record.decision, rules);
    }
  }
}

let prepared: PreparedTask[] = [];
measure("prepare tasks", "sources", () => {
  prepared = tasks.map(({ sources }) => prepareTask(sources, rules));
  return tasks.reduce((sum, { sources }) => sum + sources.length, 0);
});
const indexed = settledHeap();

const decisions = () =>
  tasks.reduce((sum, { episodes }) => sum + episodes.reduce((n, e) => n + e.decisions.length, 0), 0);

measure("retrieve, episode by episode", "decisions", () => {
  tasks.forEach(({ episodes }, i) => {
    for (const episode of episodes) retrieveEpisode(prepared[i]!, episode);
  });
  return decisions();
});

measure("retrieve, one decision at a time", "decisions", () => {
  tasks.forEach(({ episodes }, i) => {
    for (const episode of episodes) {
      for (let t = 0; t < episode.decisions.length; t++) retrieve(prepared[i]!, episode, t);
    }
  });
  return decisions();
});

let characters = 0;
measure("retrieve and render", "decisions", () => {
  tasks.forEach(({ episodes }, i) => {
    const task = prepared[i]!;
    for (const episode of episodes) {
      for (const { record } of retrieveEpisode(task, episode)) {
        characters += renderEvidence(evidenceInput(task, episode, record)).text.length;
      }
    }
  });
  return decisions();
});
const peak = process.resourceUsage().maxRSS * 1024;

let different = 0;
measure(`plain scan, first ${SCANNED_TASKS} tasks`, "decisions", () => {
  let count = 0;
  tasks.slice(0, SCANNED_TASKS).forEach(({ sources, episodes }) => {
    for (const episode of episodes) {
      for (let t = 0; t < episode.decisions.length; t++) {
        bruteForceRetrieve(sources, episode, t, rules);
        count++;
      }
    }
  });
  return count;
});

// Not timed: both give the same records.
tasks.slice(0, 11).forEach(({ sources, episodes }, i) => {
  for (const episode of episodes) {
    for (const { record } of retrieveEpisode(prepared[i]!, episode)) {
      const other = bruteForceRetrieve(sources, episode, record.decision, rules);
      if (!isDeepStrictEqual(other, record)) different++;
    }
  }
});

const table = [
  ["", "work", "seconds", "CPU seconds", "per CPU second", "CPU µs each"],
  ["---", "---:", "---:", "---:", "---:", "---:"],
  ...rows,
];
for (const row of table) console.log(`| ${row.join(" | ")} |`);
console.log(
  `\n${TASKS.toLocaleString("en")} tasks. Peak memory ${megabytes(peak)} of the process; heap ${megabytes(loaded - empty)} for ` +
    `the records, ${megabytes(indexed - loaded)} more for graphs and rankings. Evidence ${Math.round(characters / decisions()).toLocaleString("en")} ` +
    `characters on average. Records that differ from the plain scan's: ${different}.`,
);
console.log(`Node ${process.versions.node}, one thread of ${cpus()[0]?.model.trim() ?? "an unknown CPU"}.`);
if (different > 0) process.exitCode = 1;
