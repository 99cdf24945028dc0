/**
 * What the kernels would lose on a card with slower matrix units, such as an H20: every multiply-accumulate is repeated,
 * with wrong sums, and everything else is done once. The slope over the repetitions is the units' own rate; repetitions
 * that cost nothing are hidden behind loading the operands.
 *
 *     npm run bench -- matrix-rate
 */
import { createWebGpuBackend, requestDevice, type WebGpuBackend } from "../src/tensor/index.ts";
import { randomValues } from "../test/random.ts";
import { packSequences, rangeTensors } from "../test/support/packs.ts";
import { openBestGpu, TOGGLES } from "./support/device.ts";
import { median } from "./support/median.ts";

const TIMES = [1, 2, 3, 4, 6, 8];
const ACCUMULATE = /(\w+) = subgroupMatrixMultiplyAccumulate\((\w+), (\w+), \1\);/g;

/** A backend whose kernels multiply `times` times. */
async function slower(gpu: GPU, times: number): Promise<WebGpuBackend> {
  const opened = await requestDevice(gpu);
  const { device, features } = opened;
  if (features.matrices.length === 0) throw new Error("this adapter has no matrix units");
  const create = device.createShaderModule.bind(device);
  device.createShaderModule = (module) =>
    create({
      ...module,
      code: module.code.replace(ACCUMULATE, (line) => Array(times).fill(line).join("\n")),
    });
  return createWebGpuBackend(opened, { compute: "f16" });
}

/** Milliseconds of the kernels that multiply, median of five. */
async function milliseconds(b: WebGpuBackend, work: () => void): Promise<number> {
  const found: number[] = [];
  for (let run = 0; run < 6; run++) {
    b.startProfile();
    for (let n = 0; n < 4; n++) work();
    const kernels = await b.stopProfile();
    const own = kernels.filter(({ entry }) => /matmul_matrix|attention/.test(entry));
    if (run > 0) found.push(own.reduce((sum, { milliseconds }) => sum + milliseconds, 0) / 4);
  }
  return median(found);
}

function many(b: WebGpuBackend, shape: number[], seed: number) {
  const count = shape.reduce((x, y) => x * y, 1);
  const some = randomValues(Math.min(count, 3_999_971), seed);
  const all = new Float32Array(count);
  for (let at = 0; at < count; at += some.length) all.set(some.subarray(0, count - at), at);
  return b.fromArray(all, shape);
}

const gpu = await openBestGpu(["disable-dawn-features=timestamp_quantization"]);
const rows = new Map<string, { flop: number; ms: number[] }>();
async function time(name: string, flop: number, b: WebGpuBackend, work: () => void): Promise<void> {
  const row = rows.get(name) ?? { flop, ms: [] };
  rows.set(name, row);
  row.ms.push(await milliseconds(b, work));
  console.error(`${name}: ${row.ms.map((ms) => ms.toFixed(2)).join(", ")} ms`);
}
let adapter = "";
for (const times of TIMES) {
  const b = await slower(gpu, times);
  adapter = b.description;
  for (const [m, n, k] of [
    [4096, 4096, 4096],
    [4096, 12288, 4096],
  ] as const) {
    const [x, w, dy, dw] = [many(b, [m, k], 1), many(b, [n, k], 2), many(b, [m, n], 3), b.zeros([n, k])];
    const flop = 2 * m * n * k;
    const size = `${m} × ${n} × ${k}`;
    await time(`y, ${size}`, flop, b, () => b.free(b.linear(x, w)));
    await time(`dx, ${size}`, flop, b, () => b.free(b.linearBackwardInput(dy, w)));
    await time(`dw, ${size}`, flop, b, () => b.linearBackwardWeight(dw, dy, x));
    b.free(x, w, dy, dw);
  }
  const [tokens, heads, groups, size] = [8192, 32, 8, 128];
  const q = many(b, [tokens, heads, size], 1);
  const [k, v] = [many(b, [tokens, groups, size], 2), many(b, [tokens, groups, size], 3)];
  const dout = many(b, [tokens, heads, size], 4);
  const { keys, queryEnd } = rangeTensors(b, packSequences([tokens]));
  const pairs = (tokens * (tokens + 1) * heads * size) / 2;
  await time("attention forward", 4 * pairs, b, () => b.free(...Object.values(b.attention(q, k, v, keys))));
  const { o, lse } = b.attention(q, k, v, keys);
  await time("attention backward", 10 * pairs, b, () =>
    b.free(...Object.values(b.attentionBackward(dout, q, k, v, o, lse, keys, queryEnd))),
  );
  b.dispose();
}
console.log(`Adapter: ${adapter}. Toggles: ${TOGGLES || "none"}. TFLOP/s of the useful operations.\n`);
console.log(`| each multiply-accumulate | ${TIMES.map((n) => `${n} ×`).join(" | ")} |`);
console.log(`| --- |${TIMES.map(() => " ---: |").join("")}`);
for (const [name, { flop, ms }] of rows)
  console.log(`| ${name} | ${ms.map((each) => (flop / each / 1e9).toFixed(0)).join(" | ")} |`);
