/**
 * The same work in Chromium on this machine's GPU and in Node on the same card, in turns: what the page costs. In the
 * page it is done as the product does it: by the same engine, in a Web Worker, with f16 operands where matrix units are.
 * ONNX Runtime Web scores the sample's pair and random sequences in the same page, on exports of the same weights.
 *
 *     npm run bench -- browser [--only sample,score] [--models 0.6b,1.7b] [--repeats 5] [--rows]
 *         [--browser PATH] [--browser-args "--flag --flag"] [--small]
 *
 * `--only` takes rows by the beginnings of their names, which `--rows` lists. `--small` measures models of toy size on
 * the software adapter. Node and the browser have the same of Dawn's toggles, those of GCOPD_DAWN_FEATURES if it is set.
 * What a driver keeps on disk of compiled kernels makes first runs of whoever comes second shorter: for NVIDIA's set
 * __GL_SHADER_DISK_CACHE=0.
 *
 * Random weights and tokens, but for the sample's. Bundled by `bundle` of scripts/run.mjs as `standalone`, the one file
 * runs where packages are not installed, beside `node_modules/webgpu`; public/sample and test/fixtures/onnx are read
 * from the working directory, and for ONNX Runtime `node_modules/onnxruntime-web` lies beside it.
 */
import { readdirSync } from "node:fs";
import { join } from "node:path";
import { parseArgs } from "node:util";
import { findChromium } from "../scripts/browser.mjs";
import { openSample } from "../src/cli/demo/sample.ts";
import type { ScoreRequest } from "../src/core/ports.ts";
import { DAWN_FEATURES } from "../src/engine/native/dawn.ts";
import { createNodeBackend, F16_FEATURES, openFolder } from "../src/engine/native/node.ts";
import { BenchPage } from "./support/browser/page.ts";
import {
  type ModelFiles,
  type OpenedWork,
  type TimedRun,
  TimedWorks,
  type Work,
} from "./support/browser/timed-work.ts";
import { median } from "./support/median.ts";
import { numberOr, sizeNamed } from "./support/options.ts";
import { modelName } from "./support/qwen3-sizes.ts";

const { values: options } = parseArgs({
  options: {
    only: { type: "string" },
    models: { type: "string" },
    repeats: { type: "string" },
    rows: { type: "boolean", default: false },
    browser: { type: "string" },
    "browser-args": { type: "string", default: "" },
    small: { type: "boolean", default: false },
  },
});
const { small } = options;
const models = (options.models ?? (small ? "tiny" : "0.6b,1.7b")).split(",");
models.forEach(sizeNamed);
const repeats = numberOr(options.repeats, small ? 2 : 5);
if (!Number.isInteger(repeats) || repeats < 1) throw new Error("--repeats: a whole number from 1 on");
const toggles = process.env[DAWN_FEATURES] ?? F16_FEATURES;

type Where = "node" | "page";

interface Row {
  /** For `--only`. */
  name: string;
  what: string;
  /** Tokens that one run handles. */
  tokens: number;
  /** Done in turns. */
  parts: { where: Where; work: Work }[];
}

/** Decision 1 of the sample's first kept-out task, without and with evidence: what a person opens first. */
async function samplePair(): Promise<ScoreRequest[]> {
  const sample = await openSample("public/sample");
  const episode = sample.episodes.find(({ task }) => task === sample.keptOutTasks[0])!;
  const place = { episode: episode.episode, decision: 1 };
  const decision = episode.decisions[1]!;
  const { ids: promptIds } = sample.codec.prompt(decision, episode.environment, place);
  const responseIds = sample.codec.responseIds(decision, episode.environment, place);
  const context = await sample.contexts(episode, { kind: "graph-conditioned", control: "graph" });
  const graph = context(1, promptIds, responseIds.length).promptIds;
  return [
    { id: "vanilla", promptIds, responseIds },
    { id: "graph", promptIds: graph, responseIds },
  ];
}

const files = (path: string): ModelFiles => ({ path, files: readdirSync(path) });
const both = (work: Work): Row["parts"] => [
  { where: "node", work },
  { where: "page", work },
];

async function allRows(): Promise<Row[]> {
  const requests = (await samplePair()).map((request) => ({
    ...request,
    // A software adapter takes minutes for the whole of it.
    promptIds: request.promptIds.slice(small ? -48 : 0),
  }));
  const pair = { kind: "folder", model: files("public/sample/teacher"), requests } as const;
  const tokens = requests.reduce((sum, r) => sum + r.promptIds.length + r.responseIds.length, 0);
  const exported = { ...pair, kind: "onnx", model: files("test/fixtures/onnx/sample-teacher") } as const;
  const lengths = requests.map(({ promptIds, responseIds }) => `${promptIds.length} + ${responseIds.length}`);
  const scoring = small
    ? { count: 4, context: 192, prefix: 128, response: 16 }
    : { count: 16, context: 6144, prefix: 4096, response: 96 };
  const training = small
    ? { count: 4, context: 128, prefix: 0, response: 16 }
    : { count: 32, context: 2048, prefix: 0, response: 96 };
  const shorter = small
    ? { count: 1, context: 96, prefix: 0, response: 16 }
    : { count: 2, context: 2048, prefix: 0, response: 96 };
  const decoding = small ? { prompt: 24, tokens: 8 } : { prompt: 2048, tokens: 128 };
  const size = ({ count, context, response }: typeof scoring) => `${count} × (${context} + ${response})`;
  return [
    {
      name: "sample",
      what: `sample's teacher, a decision pair (${lengths.join(", ")})`,
      tokens,
      parts: both(pair),
    },
    ...models.map(
      (model): Row => ({
        name: `score-${model}`,
        what: `${modelName(model)}, scoring ${size(scoring)}, ${scoring.prefix} shared`,
        tokens: scoring.count * (scoring.context + scoring.response),
        parts: both({ kind: "score", model, ...scoring }),
      }),
    ),
    {
      name: `step-${models[0]}`,
      what: `${modelName(models[0]!)}, a training step of ${size(training)}`,
      tokens: training.count * (training.context + training.response),
      parts: both({ kind: "step", model: models[0]!, ...training }),
    },
    ...models.flatMap((model) =>
      (small ? [1, 4] : [1, 32]).map(
        (count): Row => ({
          name: `decode-${model}-${count}`,
          what: `${modelName(model)}, decoding ${count} × ${decoding.tokens} tokens behind ${decoding.prompt}`,
          tokens: count * decoding.tokens,
          parts: both({ kind: "decode", model, count, ...decoding }),
        }),
      ),
    ),
    {
      name: "onnx-sample",
      what: "sample's teacher, the same pair",
      tokens,
      parts: [
        { where: "page", work: pair },
        { where: "page", work: exported },
      ],
    },
    {
      name: `onnx-${models[0]}`,
      what: `${modelName(models[0]!)}, scoring ${size(shorter)}`,
      tokens: shorter.count * (shorter.context + shorter.response),
      parts: [
        { where: "page", work: { kind: "score", model: models[0]!, ...shorter } },
        { where: "page", work: { kind: "onnx-random", model: models[0]!, ...shorter } },
      ],
    },
  ];
}

const rows = await allRows();
const wanted = options.only?.split(",");
const chosen = rows.filter(({ name }) => wanted?.some((start) => name.startsWith(start)) ?? true);
const unknown = wanted?.find((start) => !rows.some(({ name }) => name.startsWith(start)));
if (unknown !== undefined)
  throw new Error(
    `--only: no row begins with ${unknown}; there are ${rows.map(({ name }) => name).join(", ")}`,
  );
if (options.rows) {
  for (const { name, what } of rows) console.log(`${name}\t${what}`);
  process.exit();
}

const seconds = (value: number) => (value >= 100 ? value.toFixed(0) : value.toPrecision(3));

interface Measured {
  row: Row;
  opened: OpenedWork[];
  /** Of each part, the first run and those after it. */
  runs: TimedRun[][];
}

async function measure(
  row: Row,
  places: Record<Where, Pick<TimedWorks, "open" | "run" | "close">>,
): Promise<Measured> {
  const parts = row.parts.map((part, i) => ({
    ...part,
    name: `${row.name} ${i}`,
    place: places[part.where],
  }));
  const opened = new Map<string, OpenedWork>();
  const runs: TimedRun[][] = parts.map(() => []);
  const began = performance.now();
  try {
    // The page opens first, our engine before another: it tells which operands the others are to take.
    for (const { where, place, name, work } of [...parts].sort((a, b) => rank(a) - rank(b))) {
      const found = await place.open(name, work);
      opened.set(name, found);
      operands = found.operands;
      if (found.software && !small)
        throw new Error(
          `the ${where} has a software adapter only, ${found.adapter}; --small measures toy sizes on it`,
        );
    }
    const loaded = (performance.now() - began) / 1000;
    for (let i = 0; i <= repeats; i++)
      // Who comes first takes turns too.
      for (const part of i % 2 === 0 ? [0, 1] : [1, 0])
        runs[part]!.push(await parts[part]!.place.run(parts[part]!.name));
    const times = parts.map(
      ({ where }, i) => `${where} ${runs[i]!.map((run) => seconds(run.seconds)).join(" ")}`,
    );
    console.error(`${row.name}: opened in ${loaded.toFixed(1)} s; ${times.join("; ")} s`);
  } finally {
    for (const { place, name } of parts) if (opened.has(name)) await place.close(name).catch(() => {});
  }
  return { row, opened: parts.map(({ name }) => opened.get(name)!), runs };
}

const rank = ({ where }: { where: Where }): number => (where === "page" ? 0 : 1);

/** The largest difference of what came out in two places. */
function difference([a = [], b = []]: TimedRun[][]): number {
  return Math.max(...a.flatMap(({ values }, run) => values.map((x, i) => Math.abs(x - b[run]!.values[i]!))));
}

function lines({ row, opened, runs }: Measured): string[][] {
  const times = runs.map((part) => part.slice(1).map((run) => run.seconds));
  const middle = times.map(
    (part) => `${seconds(median(part))} (${seconds(Math.min(...part))} to ${seconds(Math.max(...part))})`,
  );
  const first = runs.map((part) => seconds(part[0]!.seconds));
  const [left, right] = times.map(median) as [number, number];
  const speed = times.map((part) => Math.round(row.tokens / median(part)).toLocaleString("en"));
  const apart = difference(runs).toExponential(0);
  const ratio = (right / left).toFixed(2);
  if (row.parts[0]!.where === "node")
    return [[row.what, ...first, ...middle, ratio, ...speed, opened[1]!.operands, apart]];
  return [`our engine`, `ONNX Runtime Web, ${ratio} times that`].map((engine, i) => [
    `${row.what}, ${engine}`,
    ...["", first[i]!, "", middle[i]!, "", "", speed[i]!, opened[i]!.operands, i === 0 ? "" : apart],
  ]);
}

let operands: "f32" | "f16" = "f32";
const node = new TimedWorks({
  openBackend: () =>
    createNodeBackend("webgpu", {
      compute: operands,
      environment: { ...process.env, [DAWN_FEATURES]: toggles },
    }),
  folder: ({ path }) => openFolder(join(process.cwd(), path)),
});
const browser = options.browser ?? (await findChromium());
if (browser === undefined) throw new Error("no Chromium was found; name one: --browser PATH");
const page = await BenchPage.start({
  browser,
  toggles,
  software: small,
  args: options["browser-args"].split(/\s+/).filter((arg) => arg !== ""),
});
// What was measured by then is still printed.
for (const signal of ["SIGINT", "SIGTERM"] as const) process.once(signal, () => void page.stop());
const measured: Measured[] = [];
try {
  for (const row of chosen)
    try {
      measured.push(await measure(row, { node, page }));
    } catch (error) {
      // The rows after it may do.
      console.error(`${row.name}: ${error instanceof Error ? error.message : error}`);
      process.exitCode = 1;
    }
} finally {
  await page.stop();
}
const adapters = new Set(
  measured.flatMap(({ row, opened }) => row.parts.map(({ where }, i) => `${where}: ${opened[i]!.adapter}`)),
);
console.log(
  `\nAdapters: ${[...adapters].join("; ")}; toggles: ${toggles}; medians of ${repeats} (smallest to largest) after a first run.\n`,
);
const head = [
  ...["what", "first, Node s", "first, page s", "Node s", "page s", "page / Node"],
  ...["Node tokens/s", "page tokens/s", "operands", "largest difference"],
];
for (const line of [head, head.map((_, i) => (i === 0 ? "---" : "---:")), ...measured.flatMap(lines)])
  console.log(`| ${line.join(" | ")} |`);
