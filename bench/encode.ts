/**
 * What the processor pays for a dispatch: encoding the operations of a layer again and again on Dawn's null adapter,
 * which computes nothing, with bind groups made anew for each dispatch and with them kept. `--rounds N`: how many of them are timed together.
 */
import { parseArgs } from "node:util";
import { AdamW, createWebGpuBackend, LanguageModel, type WebGpuBackend } from "../src/tensor/index.ts";
import { openGpu, openNullGpu } from "../test/webgpu.ts";
import { median } from "./support/device.ts";
import { QWEN3_SIZES } from "./support/qwen3-sizes.ts";

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
    const settings = {
      ...{ learningRate: 1e-5, beta1: 0.9, beta2: 0.999, adamEpsilon: 1e-8, weightDecay: 0, maxGradNorm: 1 },
    };
    return { model, optimizer, sequences, settings };
  };
  const update = await count(await openGpu(), (b) => {
    const { model, optimizer, settings } = trained(b);
    model.zeroGradients();
    return () => optimizer.step(settings);
  });
  const whole = await count(await openGpu(), (b) => {
    const { model, optimizer, sequences, settings } = trained(b);
    model.zeroGradients();
    return async () => {
      model.zeroGradients();
      await model.backward(sequences, (_, logprobs) => logprobs.map(() => -1));
      await optimizer.step(settings);
    };
  });
  console.log("| a training step of 28 layers, one pack | dispatches | submissions |\n| --- | ---: | ---: |");
  for (const [what, { dispatches, submissions }] of [
    ["norm of the gradients and AdamW", update],
    ["all of it", whole],
  ] as const)
    console.log(`| ${what} | ${dispatches} | ${submissions} |`);
}

await countStep();
const { dispatches } = await count(await openNullGpu(), (b) => {
  const round = layerOn(b);
  return async () => round();
});
const [anew, kept] = (await measure([0, undefined])) as [number, number];
console.log(`\nDawn's null adapter, ${dispatches} dispatches a round, median of 7 × ${rounds} rounds.\n`);
console.log("| bind groups | µs a round | µs a dispatch | ratio |");
console.log("| --- | --- | --- | --- |");
for (const [name, time] of [
  ["made anew", anew],
  ["kept", kept],
] as const)
  console.log(
    `| ${name} | ${time.toFixed(0)} | ${(time / dispatches).toFixed(2)} | ${(time / anew).toFixed(2)} |`,
  );
