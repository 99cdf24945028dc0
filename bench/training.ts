/**
 * One training step (forward, surrogate's slopes, backward, clipping, AdamW) on f32 master weights, beside PyTorch on
 * the same card: bf16 autocast, f32 master weights, fused AdamW. Random weights and tokens; the vocabulary head runs on
 * response rows only, in both. Times of kernels with --profile; PyTorch also with torch.compile with --compile.
 *
 * With --prefix N, decisions have N tokens in common, and a second row computes each of them whole.
 *
 *     npm run bench -- training [--model 1.7b --count 32 --context 2048 --prefix 0 --response 96 --repeats 5]
 *
 * Without options: Qwen3-1.7B on a GPU, a model of toy size on a software adapter.
 */
import { parseArgs } from "node:util";
import { AdamW, type KernelTime, type ModelWork } from "../src/tensor/index.ts";
import { openAdapter, watchMemory } from "./support/device.ts";
import { medianSeconds } from "./support/median.ts";
import { numberOr, sizeNamed } from "./support/options.ts";
import { type BenchRow, printTable, runPeer } from "./support/peer.ts";
import { printProfile } from "./support/profile.ts";
import { modelName, operationsOf } from "./support/qwen3-sizes.ts";
import { randomModel } from "./support/random-model.ts";
import { randomSequences, trainingStep } from "./support/random-work.ts";

const { values: options } = parseArgs({
  options: {
    model: { type: "string" },
    count: { type: "string" },
    context: { type: "string" },
    prefix: { type: "string", default: "0" },
    response: { type: "string" },
    repeats: { type: "string" },
    pack: { type: "string" },
    compute: { type: "string" },
    keep: { type: "boolean" },
    recompute: { type: "boolean" },
    profile: { type: "boolean", default: false },
    compile: { type: "boolean", default: false },
    "no-peer": { type: "boolean", default: false },
    peer: { type: "string", default: "bench/training_peer.py" },
  },
});

const { backend, toggles, operands } = await openAdapter(options.compute);
const { software } = backend;
const name = options.model ?? (software ? "tiny" : "1.7b");
const config = sizeNamed(name);
const count = numberOr(options.count, software ? 4 : 32);
const context = numberOr(options.context, software ? 128 : 2048);
const prefix = Number(options.prefix);
const response = numberOr(options.response, software ? 16 : 96);
const repeats = numberOr(options.repeats, software ? 1 : 5);

const work = randomSequences(config, { count, context, prefix, response });

const watch = watchMemory();
const model = await randomModel(backend, config, "f32");
const optimizer = new AdamW(model);
const tokens = count * (context + response);
let computed = 0;
const step = (more: ModelWork = {}) =>
  trainingStep(model, optimizer, work, {
    ...more,
    ...(options.pack === undefined ? {} : { maxTokensPerPack: Number(options.pack) }),
    ...(options.recompute ? { recompute: true } : options.keep ? { recompute: false } : {}),
    onComputed: (done) => {
      computed = done.computed;
    },
  });
const seconds = await medianSeconds(repeats, () => step());
const shared = computed;
const whole = prefix > 0 ? await medianSeconds(repeats, () => step({ shortestPrefix: Infinity })) : null;
let profile: KernelTime[] = [];
if (options.profile) {
  backend.startProfile();
  await step();
  profile = await backend.stopProfile();
}
const memory = watch.stop();
const each = operationsOf(config);
const length = context + response - 1;
// Backward is twice forward, attention two and a half times; what is computed again is not counted.
const operations =
  each === null
    ? undefined
    : 3 * (each.body * count * length + each.head * count * response) +
      3.5 * each.pair * ((count * length * (length + 1)) / 2);
const label = `${modelName(name)}, ${count} × (${context} + ${response})${prefix > 0 ? `, ${prefix} shared` : ""}`;
const rows: BenchRow[] = [
  {
    what: label,
    tokens,
    computed: shared,
    seconds,
    operations: prefix > 0 ? undefined : operations,
    memory,
    pair: "step",
  },
  ...(whole === null
    ? []
    : [{ what: "the same, each whole", tokens, computed, seconds: whole, operations, memory: null }]),
];
const { description } = backend;
optimizer.dispose();
model.dispose();
backend.dispose();
const sizes = { model: name, count, context, response, repeats };
const peer = options["no-peer"]
  ? { note: "not run", rows: [] }
  : runPeer(options.peer, [
      ...Object.entries(sizes).map(([key, value]) => `--${key}=${value}`),
      ...(options.compile ? ["--compile"] : []),
    ]);
if (options.profile) printProfile(label, profile);
console.log(
  `\nAdapter: ${description}${software ? " (software)" : ""}; toggles: ${toggles || "none"}; operands ${operands}; ` +
    `median of ${repeats} after one to warm up.\n`,
);
printTable(rows, peer);
