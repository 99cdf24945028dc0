/**
 * Attention on the WebGPU adapter that is found: first each way of computing it is checked against our f32 kernels on
 * random packs (shared prefixes, single tokens, odd lengths, a context of 40,513 tokens under few query rows), then the
 * speed of forward and backward, with PyTorch's scaled_dot_product_attention beside it where python3 has CUDA.
 *
 * Operations are 4 · D a seen pair and query head forward, 10 · D backward, as is usual; ours computes 14 · D backward,
 * since scores are made once for dQ and once for dK and dV. f16 operands are cast once, as in a layer.
 */
import { spawnSync } from "node:child_process";
import { createWebGpuBackend, requestDevice, type WebGpuBackend } from "../src/tensor/index.ts";
import { randomValues } from "../test/random.ts";
import {
  type PackedRanges,
  packRanges,
  packSequences,
  randomPack,
  rangeTensors,
} from "../test/support/packs.ts";
import { relativeError } from "../test/support/relative-error.ts";
import { openBestGpu, TOGGLES } from "./support/device.ts";

interface Shape {
  heads: number;
  groups: number;
  size: number;
}

/** Largest relative error (L2) that f16 operands may cause. */
const BOUND = { f32: 1e-4, f16: 3e-3 };
const REPEATS = 5;
const AT_ONCE = 4;

/** Random rows [rows, heads, size]; beyond the first thousand they repeat. */
function rows(b: WebGpuBackend, count: number, heads: number, size: number, seed: number, spread: number) {
  const some = randomValues(Math.min(count, 1021) * heads * size, seed, spread);
  const all = new Float32Array(count * heads * size);
  for (let at = 0; at < all.length; at += some.length)
    all.set(some.subarray(0, Math.min(some.length, all.length - at)), at);
  return b.fromArray(all, [count, heads, size]);
}

function inputs(b: WebGpuBackend, queries: number, keys: number, { heads, groups, size }: Shape) {
  return {
    q: rows(b, queries, heads, size, 1, 3),
    k: rows(b, keys, groups, size, 2, 3),
    v: rows(b, keys, groups, size, 3, 1),
    // As small as gradients are.
    dout: rows(b, queries, heads, size, 4, 1e-5),
  };
}

/** Outputs of forward, and of backward when there are as many keys as queries. */
async function results(b: WebGpuBackend, ranges: PackedRanges, keyCount: number, shape: Shape) {
  const queries = ranges.start.length;
  const kept = b.scope((keep) => {
    const { q, k, v, dout } = inputs(b, queries, keyCount, shape);
    const { keys, queryEnd } = rangeTensors(b, ranges);
    const { o, lse } = b.attention(q, k, v, keys);
    const found = { o, lse };
    if (keyCount === queries)
      Object.assign(found, b.attentionBackward(dout, q, k, v, o, lse, keys, queryEnd));
    for (const t of Object.values(found)) keep(t);
    return found;
  });
  const values: Record<string, Float32Array> = {};
  for (const [name, t] of Object.entries(kept)) values[name] = await b.read(t);
  b.free(...Object.values(kept));
  return values;
}

/** The last rows of a context, as a teacher's response behind a cached prefix. */
function lastRows(queries: number, context: number): PackedRanges {
  const all = packSequences([context]);
  const last = (values: Uint32Array) => values.slice(context - queries);
  return {
    start: last(all.start),
    end: last(all.end),
    prefixStart: last(all.prefixStart),
    prefixEnd: last(all.prefixEnd),
    queryEnd: last(all.queryEnd),
  };
}

async function check(f32: WebGpuBackend, others: readonly [string, WebGpuBackend, number][]): Promise<void> {
  const cases: [string, PackedRanges, number, Shape][] = [];
  for (const size of [32, 64, 128, 256]) {
    for (const seed of [1, 2]) {
      const ranges = packRanges(randomPack(500, seed));
      const count = ranges.start.length;
      cases.push([`random pack of ${count}`, ranges, count, { heads: 4, groups: seed, size }]);
    }
    // Few rows take smaller tiles.
    for (const count of [70, 40, 20])
      cases.push([`${count} rows`, packSequences([count]), count, { heads: 4, groups: 2, size }]);
    const last = lastRows(97, 40513);
    cases.push(["97 rows behind 40,513", last, 40513, { heads: 4, groups: 2, size }]);
  }
  console.log("| against our f32 | head size | kernels | relative errors |\n| --- | --- | --- | --- |");
  for (const [name, ranges, keys, shape] of cases) {
    const expected = await results(f32, ranges, keys, shape);
    for (const [label, backend, bound] of others) {
      const actual = await results(backend, ranges, keys, shape);
      const errors = Object.entries(expected).map(
        ([key, values]) => [key, relativeError(actual[key]!, values)] as const,
      );
      const shown = errors.map(([key, error]) => `${key} ${error.toExponential(1)}`).join(", ");
      console.log(`| ${name} | ${shape.size} | ${label} | ${shown} |`);
      for (const [key, error] of errors)
        if (!(error < bound))
          throw new Error(`${name}, head size ${shape.size}, ${label}: ${key} is off by ${error}`);
    }
  }
}

interface Times {
  /** Median. */
  run: number;
  /** By how much the first run is longer. */
  compilation: number;
}

async function milliseconds(b: WebGpuBackend, work: () => void): Promise<Times> {
  const times: number[] = [];
  let first = 0;
  for (let i = 0; i <= REPEATS; i++) {
    const start = performance.now();
    for (let j = 0; j < AT_ONCE; j++) work();
    await b.sync();
    const spent = performance.now() - start;
    if (i === 0) first = spent;
    else times.push(spent / AT_ONCE);
  }
  const run = times.sort((x, y) => x - y)[Math.floor(REPEATS / 2)]!;
  return { run, compilation: Math.max(0, first - AT_ONCE * run) };
}

async function speed(b: WebGpuBackend, tokens: number, shape: Shape) {
  const { q, k, v, dout } = inputs(b, tokens, tokens, shape);
  const { keys, queryEnd } = rangeTensors(b, packSequences([tokens]));
  const forward = await milliseconds(b, () => b.free(...Object.values(b.attention(q, k, v, keys))));
  const { o, lse } = b.attention(q, k, v, keys);
  const backward = await milliseconds(b, () =>
    b.free(...Object.values(b.attentionBackward(dout, q, k, v, o, lse, keys, queryEnd))),
  );
  b.free(q, k, v, dout, o, lse, keys.start, keys.end, queryEnd);
  return { forward, backward };
}

function peer(shapes: readonly string[]): Map<string, { forward: number; backward: number }> {
  const found = new Map<string, { forward: number; backward: number }>();
  const { stdout, status } = spawnSync("python3", ["bench/attention_peer.py", ...shapes], {
    encoding: "utf8",
  });
  if (status === 0 && stdout)
    for (const line of stdout.trim().split("\n")) {
      const { shape, forward, backward } = JSON.parse(line) as {
        shape: string;
        forward: number;
        backward: number;
      };
      found.set(shape, { forward, backward });
    }
  return found;
}

const gpu = await openBestGpu();
const f32 = await createWebGpuBackend(gpu);
const { software, description, features } = f32;
console.log(`Adapter: ${description}. Toggles: ${TOGGLES || "none"}.\n`);
const f16 = features.f16 ? await createWebGpuBackend(gpu, { compute: "f16" }) : undefined;
// On a software adapter the whole would take hours, and the tests have checked its kernels.
if (!software) {
  const universal = await createWebGpuBackend(gpu, { matmul: "tile" });
  await check(universal, [
    ["f32", f32, BOUND.f32],
    ...(f16 ? [["f16", f16, BOUND.f16] as [string, WebGpuBackend, number]] : []),
  ]);
  universal.dispose();
}
// Where four threads load for each other, beside what they do without.
const alone =
  software && features.subgroups
    ? await createWebGpuBackend({
        ...(await requestDevice(gpu)),
        features: { ...features, subgroups: false },
      })
    : undefined;
const timed: [number, Shape][] = software
  ? [
      [192, { heads: 6, groups: 3, size: 32 }],
      [1024, { heads: 4, groups: 2, size: 32 }],
      [512, { heads: 4, groups: 2, size: 64 }],
    ]
  : [
      [8192, { heads: 32, groups: 8, size: 128 }],
      [2048, { heads: 32, groups: 8, size: 128 }],
      [8192, { heads: 32, groups: 8, size: 64 }],
      [8192, { heads: 16, groups: 4, size: 256 }],
      [4096, { heads: 6, groups: 3, size: 32 }],
    ];
const name = (tokens: number, { heads, groups, size }: Shape) => [tokens, heads, groups, size].join(",");
const beside = software ? new Map() : peer(timed.map(([tokens, shape]) => name(tokens, shape)));
console.log(
  "\n| tokens, causal | heads | head size | kernels | pass | compilation, ms | ms | TFLOP/s | PyTorch bf16 TFLOP/s | share |",
);
console.log("| --- | --- | --- | --- | --- | --- | --- | --- | --- | --- |");
for (const [tokens, shape] of timed) {
  const pairs = (tokens * (tokens + 1) * shape.heads * shape.size) / 2;
  const theirs = beside.get(name(tokens, shape));
  const backends: [string, WebGpuBackend | undefined][] = [
    ["f32", f32],
    ["f16", f16],
    ["f32, threads load alone", alone],
  ];
  for (const [label, backend] of backends) {
    if (backend === undefined) continue;
    const ours = await speed(backend, tokens, shape);
    for (const pass of ["forward", "backward"] as const) {
      const rate = (ms: number) => (((pass === "forward" ? 4 : 10) * pairs) / ms / 1e9).toPrecision(3);
      const peerRate = theirs ? rate(theirs[pass]) : "";
      const { run, compilation } = ours[pass];
      const share = theirs ? (theirs[pass] / run).toFixed(2) : "";
      const heads = `${shape.heads} of ${shape.groups}`;
      console.log(
        `| ${tokens.toLocaleString("en")} | ${heads} | ${shape.size} | ${label} | ${pass} | ${compilation.toFixed(0)} | ${run.toPrecision(3)} | ${rate(run)} | ${peerRate} | ${share} |`,
      );
    }
  }
}
f32.dispose();
f16?.dispose();
alone?.dispose();
