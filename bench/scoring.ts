/**
 * Teacher scoring of decisions that share a prefix, beside PyTorch on the same card: with the prefix computed once, and
 * each decision whole. Random weights and tokens. Times of kernels with --profile.
 *
 *     npm run bench -- scoring [--model 8b --count 16 --context 6144 --prefix 4096 --response 96 --repeats 5]
 *
 * Without options: Qwen3-8B on a GPU, a model of toy size on a software adapter.
 */
import { parseArgs } from "node:util";
import type { KernelTime, ModelConfig } from "../src/tensor/index.ts";
import { openAdapter, watchMemory } from "./support/device.ts";
import { medianSeconds } from "./support/median.ts";
import { numberOr, sizeNamed } from "./support/options.ts";
import { type BenchRow, printTable, runPeer } from "./support/peer.ts";
import { printProfile } from "./support/profile.ts";
import { modelName, operationsOf } from "./support/qwen3-sizes.ts";
import { randomModel } from "./support/random-model.ts";
import { randomSequences } from "./support/random-work.ts";

const { values: options } = parseArgs({
  options: {
    model: { type: "string" },
    count: { type: "string" },
    context: { type: "string" },
    prefix: { type: "string" },
    response: { type: "string" },
    repeats: { type: "string" },
    pack: { type: "string" },
    compute: { type: "string" },
    format: { type: "string" },
    profile: { type: "boolean", default: false },
    "no-whole": { type: "boolean", default: false },
    "no-peer": { type: "boolean", default: false },
    compile: { type: "boolean", default: false },
    peer: { type: "string", default: "bench/scoring_peer.py" },
  },
});

const { backend, toggles, operands } = await openAdapter(options.compute);
const { software } = backend;
const name = options.model ?? (software ? "tiny" : "8b");
const config = sizeNamed(name);
const count = numberOr(options.count, software ? 4 : 16);
const context = numberOr(options.context, software ? 192 : 6144);
const prefix = numberOr(options.prefix, software ? 128 : 4096);
const response = numberOr(options.response, software ? 16 : 96);
const repeats = numberOr(options.repeats, software ? 1 : 5);
const format = options.format === "f32" || operands === "f32" ? "f32" : "f16";

/** Operations of scoring with `shared` first tokens computed once, the rows' attention to all their keys counted. */
function operations(model: ModelConfig, shared: number): number | undefined {
  const each = operationsOf(model);
  if (each === null) return undefined;
  const { body, head, pair } = each;
  const length = context + response - 1;
  const keys = (from: number, to: number) => (to * (to + 1)) / 2 - (from * (from + 1)) / 2;
  const computed = length + (count - 1) * (length - shared);
  const pairs = keys(0, length) + (count - 1) * keys(shared, length);
  return body * computed + head * count * response + pair * pairs;
}

const watch = watchMemory();
const loading = performance.now();
const model = await randomModel(backend, config, format);
const loaded = (performance.now() - loading) / 1000;
const work = randomSequences(config, { count, context, prefix, response });
const tokens = count * (context + response);
const maxTokensPerPack = options.pack === undefined ? undefined : Number(options.pack);
let computed = 0;
const score = (shortestPrefix?: number) =>
  model.score(work, {
    ...(maxTokensPerPack === undefined ? {} : { maxTokensPerPack }),
    ...(shortestPrefix === undefined ? {} : { shortestPrefix }),
    onComputed: (done) => {
      computed = done.computed;
    },
  });
const rows: BenchRow[] = [];
const label = `${modelName(name)}, ${count} × (${context} + ${response})`;
const shared = await medianSeconds(repeats, () => score());
rows.push({
  what: `${label}, ${prefix} shared`,
  tokens,
  computed,
  seconds: shared,
  operations: operations(config, prefix),
  pair: "shared",
});
if (!options["no-whole"]) {
  const whole = await medianSeconds(repeats, () => score(Number.POSITIVE_INFINITY));
  rows.push({
    what: `${label}, each whole`,
    tokens,
    computed,
    seconds: whole,
    operations: operations(config, 0),
    pair: "whole",
  });
}
let profile: KernelTime[] = [];
if (options.profile) {
  backend.startProfile();
  await score();
  profile = await backend.stopProfile();
}
rows[0]!.memory = watch.stop();
const { description } = backend;
model.dispose();
backend.dispose();
const sizes = { model: name, count, context, prefix, response, repeats };
const peerOptions = Object.entries(sizes).map(([key, value]) => `--${key}=${value}`);
const peer = options["no-peer"]
  ? { note: "not run", rows: [] }
  : runPeer(options.peer, [...peerOptions, ...(options.compile ? ["--compile"] : [])]);
if (options.profile) printProfile(rows[0]!.what, profile);
console.log(
  `\nAdapter: ${description}${software ? " (software)" : ""}; toggles: ${toggles || "none"}; weights ${format}, ` +
    `operands ${operands}, made in ${loaded.toFixed(1)} s; median of ${repeats}.\n`,
);
printTable(rows, peer);
