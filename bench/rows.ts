/**
 * The products of a step of decoding, with f16 weights: those of all layers one after another, so that no cache holds what
 * is read. Beside each, what it takes to read its weights and to do nothing with them, each in a dispatch of its own.
 *
 *     npm run bench -- rows [--model 1.7b --rows 1,4,32 --repeats 5]
 *
 * Microseconds per product by the device's timestamps around whole passes, the least of the repeats. Weights are zeros.
 */
import { parseArgs } from "node:util";
import type { GpuTensor } from "../src/tensor/webgpu/index.ts";
import { openAdapter } from "./support/device.ts";
import { numberOr, sizeNamed } from "./support/options.ts";
import { modelName } from "./support/qwen3-sizes.ts";

const { values: options } = parseArgs({
  options: { model: { type: "string" }, rows: { type: "string" }, repeats: { type: "string" } },
});
const { backend, toggles } = await openAdapter(undefined);
const { device, software } = backend;
if (!backend.features.timestamps) throw new Error("rows: this adapter has no timestamps");
const name = options.model ?? (software ? "tiny" : "1.7b");
const config = sizeNamed(name);
const counts = (options.rows ?? "1,4,32").split(",").map(Number);
const repeats = numberOr(options.repeats, software ? 1 : 5);
const { hiddenSize, intermediateSize, layers, headSize, vocabularySize } = config;
const [queries, keys] = [config.heads * headSize, config.keyValueHeads * headSize];

const weight = (outputs: number, inputs: number) => backend.allocateWeight("f16", [outputs, inputs]);
const all = Array.from({ length: layers }, () => ({
  qkv: [weight(queries, hiddenSize), weight(keys, hiddenSize), weight(keys, hiddenSize)],
  output: weight(hiddenSize, queries),
  gate: weight(intermediateSize, hiddenSize),
  up: weight(intermediateSize, hiddenSize),
  down: weight(hiddenSize, intermediateSize),
}));
const head = weight(vocabularySize, hiddenSize);
const norm = { weight: backend.zeros([hiddenSize]), epsilon: config.normEpsilon };

/** Microseconds of what is dispatched, by passes. */
async function microseconds(times: number, work: () => void): Promise<number> {
  let least = Number.POSITIVE_INFINITY;
  for (let i = 0; i <= repeats; i++) {
    backend.startProfile("passes");
    backend.scope(work);
    const passes = await backend.stopProfile();
    // The first one compiles.
    if (i > 0)
      least = Math.min(
        least,
        passes.reduce((sum, { milliseconds }) => sum + milliseconds, 0),
      );
  }
  return (1000 * least) / times;
}

const LOADS = 4;
/** Workgroups along x: a dimension has 65,535 at most. */
const WIDE = 32_768;
const reading = device.createComputePipeline({
  layout: "auto",
  compute: {
    module: device.createShaderModule({
      code: `
        @group(0) @binding(0) var<storage, read> w: array<vec4u>;
        @group(0) @binding(1) var<storage, read_write> y: array<u32>;
        @compute @workgroup_size(256)
        fn read_all(@builtin(workgroup_id) group: vec3u, @builtin(local_invocation_index) local: u32) {
          var sum = vec4u();
          let first = (group.y * ${WIDE}u + group.x) * ${LOADS}u * 256u + local;
          for (var i = 0u; i < ${LOADS}u; i++) { sum += w[min(first + i * 256u, arrayLength(&w) - 1u)]; }
          // Zeros: the last kernel's y is waited for, and nothing is written.
          if (sum.x + sum.y + sum.z + sum.w + y[local] != 0u) { y[local] = sum.x; }
        }`,
    }),
  },
});

/** Microseconds for reading the weights of one product alone, each in a dispatch of its own. */
async function readingAlone(weights: readonly (readonly GpuTensor[])[]): Promise<number> {
  const querySet = device.createQuerySet({ type: "timestamp", count: 2 });
  const resolved = device.createBuffer({ size: 16, usage: 0x0200 | 0x0004 });
  const staging = device.createBuffer({ size: 16, usage: 0x0001 | 0x0008 });
  const y = backend.zeros([256], "u32");
  const groups = weights.flat().map((w) =>
    device.createBindGroup({
      layout: reading.getBindGroupLayout(0),
      entries: [w, y].map(({ buffer, offset, bytes }, binding) => ({
        binding,
        resource: { buffer, offset, size: bytes },
      })),
    }),
  );
  let least = Number.POSITIVE_INFINITY;
  for (let i = 0; i <= repeats; i++) {
    const encoder = device.createCommandEncoder();
    const pass = encoder.beginComputePass({
      timestampWrites: { querySet, beginningOfPassWriteIndex: 0, endOfPassWriteIndex: 1 },
    });
    pass.setPipeline(reading);
    for (const [n, w] of weights.flat().entries()) {
      pass.setBindGroup(0, groups[n]!);
      const workgroups = Math.ceil(w.bytes / 16 / 256 / LOADS);
      pass.dispatchWorkgroups(Math.min(workgroups, WIDE), Math.ceil(workgroups / WIDE));
    }
    pass.end();
    encoder.resolveQuerySet(querySet, 0, 2, resolved, 0);
    encoder.copyBufferToBuffer(resolved, 0, staging, 0, 16);
    device.queue.submit([encoder.finish()]);
    await staging.mapAsync(1);
    const [start, end] = new BigUint64Array(staging.getMappedRange()) as unknown as [bigint, bigint];
    staging.unmap();
    if (i > 0) least = Math.min(least, Number(end - start) / 1000);
  }
  // What went wrong on the device comes to light here.
  await backend.sync();
  for (const buffer of [resolved, staging]) buffer.destroy();
  querySet.destroy();
  backend.free(y);
  return least / weights.length;
}

const NAMES = [
  "q, k, v of the norm",
  "output, added",
  "gate and up of the norm",
  "down, added",
  "head of the norm",
];
const products = (rows: number): (() => void)[] => {
  const x = backend.zeros([rows, hiddenSize]);
  const attended = backend.zeros([rows, queries]);
  const act = backend.zeros([rows, intermediateSize]);
  const each = (work: (layer: (typeof all)[number]) => void) => () => all.forEach(work);
  return [
    each(({ qkv }) => backend.linearJoined(x, qkv, norm)),
    each(({ output }) => backend.addLinear(x, attended, output)),
    each(({ gate, up }) => backend.linearSwiglu(x, gate, up, norm)),
    each(({ down }) => backend.addLinear(x, act, down)),
    () => backend.linearJoined(x, [head], norm),
  ];
};
const read = [
  all.map(({ qkv }) => qkv),
  all.map(({ output }) => [output]),
  all.map(({ gate, up }) => [gate, up]),
  all.map(({ down }) => [down]),
  [[head]],
];
console.log(
  `${modelName(name)} on ${backend.description}; toggles: ${toggles || "none"}; least of ${repeats}.\n`,
);
console.log(`| product | MB | reading alone, µs | ${counts.map((n) => `${n} rows, µs`).join(" | ")} |`);
console.log(`| --- | ---: | ---: |${" ---: |".repeat(counts.length)}`);
for (const [i, weights] of read.entries()) {
  const bytes = weights[0]!.reduce((sum, w) => sum + w.bytes, 0);
  const alone = await readingAlone(weights);
  const cells: string[] = [];
  for (const rows of counts) {
    const us = await microseconds(weights.length, products(rows)[i]!);
    cells.push(`${us.toFixed(1)} (${(bytes / us / 1e6).toFixed(2)} TB/s)`);
  }
  console.log(`| ${NAMES[i]} | ${(bytes / 1e6).toFixed(1)} | ${alone.toFixed(1)} | ${cells.join(" | ")} |`);
}
backend.dispose();
