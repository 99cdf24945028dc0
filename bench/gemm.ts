/**
 * Matrix products of linear layers on the WebGPU adapter that is found: y = x·wᵀ (NT), dx = dy·w (NN), dw += dyᵀ·x (TN)
 * of the shapes of Qwen3-8B at 4,096 rows, with f16 operands where the adapter can, else in f32; beside PyTorch where
 * python3 has it with CUDA.
 *
 *     npm run bench -- gemm [--f32] [--rows N] [--tune]
 *
 * Every figure is the median of five after two to warm up, many products a time; every product is checked in the same run
 * against f64 sums of samples. "Kernel" is by the device's own timestamps, as PyTorch's figures are; the first TFLOP/s are
 * by the clock, dispatch and waiting included. --tune then has the kernels measured and chosen, and times the choice.
 * "with casts" casts x (dy) again for every product, as the first of several layers that share an input does; weights stay
 * cast.
 */
import { spawnSync } from "node:child_process";
import { parseArgs } from "node:util";
import { createWebGpuBackend, type WebGpuBackend } from "../src/tensor/index.ts";
import type { GpuTensor } from "../src/tensor/webgpu/index.ts";
import { randomValues } from "../test/random.ts";
import { openBestGpu, TOGGLES } from "./support/device.ts";

interface Peer {
  device: string;
  torch: string;
  tflops: Record<string, number>;
}

const { values: options } = parseArgs({
  options: {
    f32: { type: "boolean", default: false },
    rows: { type: "string", default: "4096" },
    tune: { type: "boolean", default: false },
  },
});

/** Rows, out and in of the layers: q and o, k and v, gate and up, down. */
function shapes(software: boolean): [number, number, number][] {
  const rows = Number(options.rows);
  if (software) return [[128, 256, 192]];
  return [
    [rows, 4096, 4096],
    [rows, 1024, 4096],
    [rows, 12288, 4096],
    [rows, 4096, 12288],
  ];
}

async function open(): Promise<WebGpuBackend> {
  const gpu = await openBestGpu();
  const plain = await createWebGpuBackend(gpu);
  if (!options.f32 && plain.features.f16) {
    plain.dispose();
    return createWebGpuBackend(gpu, { compute: "f16" });
  }
  return plain;
}

/** Seconds of the kernels of one call of `work` by the device's timestamps, median of five runs; null without them. */
async function kernelSeconds(
  backend: WebGpuBackend,
  repeats: number,
  work: () => void,
): Promise<number | null> {
  if (!backend.features.timestamps) return null;
  const times: number[] = [];
  for (let run = 0; run < 5; run++) {
    backend.startProfile();
    for (let i = 0; i < repeats; i++) work();
    const kernels = await backend.stopProfile();
    times.push(kernels.reduce((sum, { milliseconds }) => sum + milliseconds, 0) / 1000 / repeats);
  }
  return times.sort((a, b) => a - b)[2]!;
}

/** Median seconds of one call of `work` among five runs of many, after two to warm up. */
async function seconds(backend: WebGpuBackend, repeats: number, work: () => void): Promise<number> {
  const times: number[] = [];
  for (let run = 0; run < 7; run++) {
    await backend.sync();
    const start = performance.now();
    for (let i = 0; i < repeats; i++) work();
    await backend.sync();
    times.push((performance.now() - start) / 1000 / repeats);
  }
  return times.slice(2).sort((a, b) => a - b)[2]!;
}

interface Matrix {
  data: Float32Array;
  /** Values from one row to the next, and from one column to the next. */
  row: number;
  column: number;
}

/** The largest |C − Σ_k a·b| of samples over the root of Σ_k (a·b)², the size that rounding errors grow with. */
function worstSample(c: Float32Array, a: Matrix, b: Matrix, m: number, n: number, k: number): number {
  let worst = 0;
  for (let sample = 0; sample < 200; sample++) {
    const row = (sample * 7919 + (sample % 2) * (m - 1)) % m;
    const column = (sample * 104729 + 13) % n;
    let sum = 0;
    let size = 0;
    for (let i = 0; i < k; i++) {
      const term = a.data[row * a.row + i * a.column]! * b.data[i * b.row + column * b.column]!;
      sum += term;
      size += term * term;
    }
    const error = Math.abs(c[row * n + column]! - sum) / Math.sqrt(size);
    worst = Number.isFinite(error) ? Math.max(worst, error) : Number.POSITIVE_INFINITY;
  }
  return worst;
}

/** Random values; those after the first few million repeat at a prime distance, since making them takes longest. */
function manyValues(count: number, seed: number): Float32Array {
  const some = randomValues(Math.min(count, 3_999_971), seed);
  const all = new Float32Array(count);
  for (let at = 0; at < count; at += some.length) all.set(some.subarray(0, count - at), at);
  return all;
}

function runPeer(sizes: [number, number, number][]): Peer | string {
  const { status, stdout, error } = spawnSync("python3", ["bench/gemm_peer.py", JSON.stringify(sizes)], {
    encoding: "utf8",
  });
  if (error || status !== 0) return "no python3 with PyTorch and CUDA here";
  return JSON.parse(stdout) as Peer;
}

const backend = await open();
const sizes = shapes(backend.software);
const rows: string[][] = [];
for (const [m, out, inner] of sizes) {
  const [xData, wData, dyData] = [m * inner, out * inner, m * out].map((n, i) => manyValues(n, i + 1)) as [
    Float32Array,
    Float32Array,
    Float32Array,
  ];
  const x = backend.fromArray(xData, [m, inner]);
  const w = backend.fromArray(wData, [out, inner]);
  const dy = backend.fromArray(dyData, [m, out]);
  const dw = backend.zeros([out, inner]);
  const operations = 2 * m * out * inner;
  const repeats = backend.software
    ? 1
    : Math.max(4, Math.round((backend.compute === "f16" ? 2e13 : 2e12) / operations));
  // Nothing changes, but the copy in f16 is stale: the next product casts again.
  const touch = (t: GpuTensor) => {
    t.version++;
  };
  const keep = async (t: GpuTensor) => {
    const values = await backend.read(t);
    backend.free(t);
    return values;
  };
  backend.linearBackwardWeight(dw, dy, x);
  const errors = [
    worstSample(
      await keep(backend.linear(x, w)),
      { data: xData, row: inner, column: 1 },
      { data: wData, row: 1, column: inner },
      m,
      out,
      inner,
    ),
    worstSample(
      await keep(backend.linearBackwardInput(dy, w)),
      { data: dyData, row: out, column: 1 },
      { data: wData, row: inner, column: 1 },
      m,
      inner,
      out,
    ),
    worstSample(
      await backend.read(dw),
      { data: dyData, row: 1, column: out },
      { data: xData, row: inner, column: 1 },
      out,
      inner,
      m,
    ),
  ];
  const forms: ["NT" | "NN" | "TN", GpuTensor, () => void][] = [
    ["NT", x, () => backend.free(backend.linear(x, w))],
    ["NN", dy, () => backend.free(backend.linearBackwardInput(dy, w))],
    ["TN", dy, () => backend.linearBackwardWeight(dw, dy, x)],
  ];
  for (const [i, [form, input, work]] of forms.entries()) {
    const time = await seconds(backend, repeats, work);
    const withCasts = await seconds(backend, repeats, () => {
      touch(input);
      work();
    });
    const kernel = await kernelSeconds(backend, Math.ceil(repeats / 4), work);
    const speed = (t: number | null) => (t === null ? "" : (operations / t / 1e12).toPrecision(3));
    let tuned = "";
    if (options.tune) {
      const shape = {
        NT: { form: "nt", m, n: out, k: inner },
        NN: { form: "nn", m, n: inner, k: out },
        TN: { form: "tn", m: out, n: inner, k: m },
      } as const;
      await backend.tune?.({ products: [shape[form]], attention: [] });
      tuned = speed(await kernelSeconds(backend, Math.ceil(repeats / 4), work));
    }
    const error = errors[i]!;
    // f16 operands leave 11 bits of each factor.
    if (!(error < (backend.compute === "f16" ? 2e-3 : 1e-4)))
      throw new Error(`${form} of ${m} × ${out} × ${inner} is wrong: error ${error}`);
    rows.push([
      `${form} ${m} × ${out} × ${inner}`,
      (time * 1e3).toPrecision(3),
      speed(time),
      speed(kernel),
      ...(options.tune ? [tuned] : []),
      speed(withCasts),
      error.toExponential(1),
      `${m},${out},${inner} ${form}`,
    ]);
  }
  backend.free(x, w, dy, dw);
}
const { description, software, compute } = backend;
const chosen = JSON.stringify(backend.tuned.products);
backend.dispose();
const peer = software ? "not run beside a software adapter" : runPeer(sizes);

console.log(
  `Adapter: ${description}${software ? " (software)" : ""}; operands ${compute}; Dawn toggles: ${TOGGLES || "none"}.`,
);
console.log(typeof peer === "string" ? `PyTorch: ${peer}.\n` : `PyTorch ${peer.torch} on ${peer.device}.\n`);
if (options.tune) console.log(`Chosen by measuring: ${chosen}\n`);
const head = [
  "product",
  "ms",
  "TFLOP/s",
  "kernel",
  ...(options.tune ? ["tuned"] : []),
  "with casts",
  "error",
  "PyTorch f16",
  "PyTorch bf16",
  "share of f16",
];
for (const line of [head, head.map(() => "---")]) console.log(`| ${line.join(" | ")} |`);
for (const row of rows) {
  const key = row.pop()!;
  const [f16, bf16] = typeof peer === "string" ? [] : [peer.tflops[`${key} f16`], peer.tflops[`${key} bf16`]];
  const beside =
    f16 && bf16
      ? [f16.toPrecision(3), bf16.toPrecision(3), (Number(row[3] || row[2]) / f16).toFixed(2)]
      : ["", "", ""];
  console.log(`| ${[...row, ...beside].join(" | ")} |`);
}
