/**
 * What the processor pays for a dispatch: encoding the operations of a layer again and again on Dawn's null adapter,
 * which computes nothing, with bind groups made for each dispatch and with them kept; and how many buffers and bind
 * groups training steps make. `--rounds N`: how many of the rounds are timed together.
 */
import { parseArgs } from "node:util";
import { uniforms } from "../src/core/seeded.ts";
import { AdamW, createWebGpuBackend, LanguageModel, type WebGpuBackend } from "../src/tensor/index.ts";
import { openGpu, openNullGpu } from "../test/webgpu.ts";
import { median } from "./support/median.ts";
import { QWEN3_SIZES } from "./support/qwen3-sizes.ts";
import { TIMED_ADAMW } from "./support/random-work.ts";

const { values } = parseArgs({ options: { rounds: { type: "string", default: "300" } } });
const rounds = Number(values.rounds);
const [tokens, hidden, heads, groups, size, inner] = [256, 256, 4, 2, 64, 512];

/** One round: a layer's forward pass, and what a training step needs of its backward pass. */
function layerOn(b: WebGpuBackend): () => void {
  const zeros = (...shape: number[]) => b.zeros(shape);
  const x = zeros(tokens, hidden);
  const norm = zeros(hidden);
  const [wq, wk, wo] = [
    zeros(heads * size, hidden),
    zeros(groups * size, hidden),
    zeros(hidden, heads * size),
  ];
  const [gate, up, down] = [zeros(inner, hidden), zeros(inner, hidden), zeros(hidden, inner)];
  const dw = zeros(inner, hidden);
  const start = b.zeros([tokens], "u32");
  const end = b.fromArray(
    Uint32Array.from({ length: tokens }, (_, i) => i + 1),
    [tokens],
  );
  return () => {
    b.scope(() => {
      const { y } = b.rmsNorm(x, norm, 1e-6);
      const q = b.reshape(b.linear(y, wq), [tokens, heads, size]);
      const k = b.reshape(b.linear(y, wk), [tokens, groups, size]);
      const v = b.reshape(b.linear(y, wk), [tokens, groups, size]);
      const { o } = b.attention(q, k, v, { start, end });
      const mixed = b.linear(b.reshape(o, [tokens, heads * size]), wo);
      const next = b.addRmsNorm(x, mixed, norm, 1e-6);
      const [g, u] = [b.linear(next.y, gate), b.linear(next.y, up)];
      const out = b.linear(b.swiglu(g, u), down);
      b.linearBackwardWeight(dw, b.swigluBackward(g, u, b.linearBackwardInput(out, down)).dgate, next.y);
      b.addInPlace(x, out);
    });
  };
}

/** Microseconds a round with so many bind groups kept, the variants in turn. */
async function measure(variants: readonly (number | undefined)[]): Promise<number[]> {
  const runs = [];
  for (const keptBindGroups of variants) {
    const gpu = await openNullGpu();
    const backend = await createWebGpuBackend(gpu, { matmul: "shared", keptBindGroups });
    runs.push({ gpu, backend, round: layerOn(backend), times: [] as number[] });
  }
  for (let i = 0; i < 8; i++)
    for (const { backend, round, times } of runs) {
      const begin = performance.now();
      for (let j = 0; j < rounds; j++) round();
      // The first has the kernels to compile.
      if (i > 0) times.push(((performance.now() - begin) * 1e3) / rounds);
      await backend.sync();
    }
  for (const { backend } of runs) backend.dispose();
  return runs.map(({ times }) => median(times));
}

/** Dispatches and submissions of what `prepare` gives, as the device sees them. */
async function count(
  gpu: GPU,
  prepare: (b: WebGpuBackend) => () => Promise<unknown>,
): Promise<{ dispatches: number; submissions: number }> {
  const backend = await createWebGpuBackend(gpu, { matmul: "shared" });
  const { device } = backend;
  const { createCommandEncoder } = device;
  const counted = { dispatches: 0, submissions: 0 };
  device.createCommandEncoder = () => {
    counted.submissions++;
    const encoder = createCommandEncoder.call(device);
    const { beginComputePass } = encoder;
    encoder.beginComputePass = (descriptor) => {
      const pass = beginComputePass.call(encoder, descriptor);
      const { dispatchWorkgroups } = pass;
      pass.dispatchWorkgroups = (...sizes) => {
        counted.dispatches++;
        dispatchWorkgroups.apply(pass, sizes);
      };
      return pass;
    };
    return encoder;
  };
  const work = prepare(backend);
  await backend.sync();
  Object.assign(counted, { dispatches: 0, submissions: 0 });
  await work();
  await backend.sync();
  backend.dispose();
  return counted;
}

/** A training step of a model with the layers of Qwen3-1.7B, narrow, one pack: the optimizer alone, and all of it.
 * On a real adapter: attention's kernels take more workgroup memory than the null one offers. */
async function countStep(): Promise<void> {
  const config = QWEN3_SIZES["tiny"];
  if (config === undefined) throw new Error("no size named tiny");
  const trained = (b: WebGpuBackend) => {
    const model = LanguageModel.create(b, { ...config, layers: 28 }, 1);
    const optimizer = new AdamW(model);
    const sequences = [{ promptIds: [1, 2, 3], responseIds: [4, 5] }];
    return { model, optimizer, sequences };
  };
  const update = await count(await openGpu(), (b) => {
    const { model, optimizer } = trained(b);
    model.zeroGradients();
    return () => optimizer.step(TIMED_ADAMW);
  });
  const whole = await count(await openGpu(), (b) => {
    const { model, optimizer, sequences } = trained(b);
    model.zeroGradients();
    return async () => {
      model.zeroGradients();
      await model.backward(sequences, (_, logprobs) => logprobs.map(() => -1));
      await optimizer.step(TIMED_ADAMW);
    };
  });
  console.log("| a training step of 28 layers, one pack | dispatches | submissions |\n| --- | ---: | ---: |");
  for (const [what, { dispatches, submissions }] of [
    ["norm of the gradients and AdamW", update],
    ["all of it", whole],
  ] as const)
    console.log(`| ${what} | ${dispatches} | ${submissions} |`);
}

/**
 * Buffers and bind groups that steps of several packs make, and the seconds of their encoding, step by step. Nothing is
 * submitted, so that the device takes no part in it; what it would hold at most is counted all the same.
 */
async function countMade(shortest: number, longest: number, steps: number): Promise<string[][]> {
  const config = QWEN3_SIZES["tiny"];
  if (config === undefined) throw new Error("no size named tiny");
  const backend = await createWebGpuBackend(await openGpu(), { compute: "f16", f16: "packed" });
  const { device } = backend;
  const made = { buffers: 0, groups: 0, bytes: 0, most: 0 };
  const { createBuffer, createBindGroup } = device;
  device.createBuffer = (descriptor) => {
    made.buffers++;
    made.bytes += descriptor.size;
    made.most = Math.max(made.most, made.bytes);
    const buffer = createBuffer.call(device, descriptor);
    const { destroy } = buffer;
    buffer.destroy = () => {
      made.bytes -= descriptor.size;
      return destroy.call(buffer);
    };
    return buffer;
  };
  device.createBindGroup = (descriptor) => {
    made.groups++;
    return createBindGroup.call(device, descriptor);
  };
  device.queue.submit = () => undefined;
  const narrow = { hiddenSize: 64, intermediateSize: 192, heads: 4, keyValueHeads: 2, headSize: 16 };
  const model = LanguageModel.create(backend, { ...config, ...narrow, layers: 28, vocabularySize: 500 }, 1);
  const optimizer = new AdamW(model);
  const next = uniforms(7);
  const work = Array.from({ length: 32 }, () => ({
    promptIds: Array.from({ length: Math.round(shortest + (longest - shortest) * next()) }, () =>
      Math.floor(500 * next()),
    ),
    responseIds: [1, 2, 3],
  }));
  const maxTokensPerPack = Math.ceil(1.9 * (shortest + longest));
  const lines: string[][] = [];
  for (let step = 1; step <= steps; step++) {
    Object.assign(made, { buffers: 0, groups: 0, most: made.bytes });
    backend.takePeak();
    const begin = performance.now();
    model.zeroGradients();
    await model.backward(work, (_, logprobs) => logprobs.map(() => -1), {
      maxTokensPerPack,
      recompute: false,
    });
    await optimizer.step(TIMED_ADAMW);
    const seconds = (performance.now() - begin) / 1e3;
    const share = made.most / backend.takePeak();
    lines.push([
      `prompts of ${shortest === longest ? shortest : `${shortest} to ${longest}`}, step ${step}`,
      ...[made.buffers, made.groups].map((n) => n.toLocaleString("en")),
      share.toFixed(2),
      seconds.toFixed(2),
    ]);
  }
  optimizer.dispose();
  model.dispose();
  backend.dispose();
  return lines;
}

await countStep();
const head = ["32 sequences in packs of some 200 tokens", "buffers made", "bind groups made"];
console.log(`\n| ${[...head, "device / tensors", "seconds"].join(" | ")} |\n|${" --- |".repeat(5)}`);
for (const [shortest, longest] of [
  [64, 64],
  [32, 96],
] as const)
  for (const line of await countMade(shortest, longest, 4)) console.log(`| ${line.join(" | ")} |`);
const { dispatches } = await count(await openNullGpu(), (b) => {
  const round = layerOn(b);
  return async () => round();
});
const [remade, kept] = (await measure([0, undefined])) as [number, number];
console.log(`\nDawn's null adapter, ${dispatches} dispatches a round, median of 7 × ${rounds} rounds.\n`);
console.log("| bind groups | µs per round | µs per dispatch | ratio |");
console.log("| --- | --- | --- | --- |");
for (const [name, time] of [
  ["made each time", remade],
  ["kept", kept],
] as const)
  console.log(
    `| ${name} | ${time.toFixed(0)} | ${(time / dispatches).toFixed(2)} | ${(time / remade).toFixed(2)} |`,
  );
