/** What is measured of a model, on random tokens: the same ids each time, in Node and in a page. */
import { uniforms } from "../../src/core/seeded.ts";
import type {
  AdamW,
  AdamWSettings,
  GenerateOptions,
  LanguageModel,
  ModelConfig,
  ModelWork,
  Sequence,
} from "../../src/tensor/index.ts";

/** Lengths in tokens; `prefix` of `context` are the same in all sequences. */
export interface SequenceSizes {
  count: number;
  context: number;
  prefix: number;
  response: number;
}

function randomIds({ vocabularySize }: Pick<ModelConfig, "vocabularySize">): (n: number) => number[] {
  const next = uniforms(7);
  return (n) => Array.from({ length: n }, () => Math.floor(next() * vocabularySize));
}

/** Decisions that have their first tokens in common. */
export function randomSequences(
  config: ModelConfig,
  { count, context, prefix, response }: SequenceSizes,
): Sequence[] {
  const ids = randomIds(config);
  const first = ids(prefix);
  return Array.from({ length: count }, () => ({
    promptIds: [...first, ...ids(context - prefix)],
    responseIds: ids(response),
  }));
}

/** Settings of AdamW for steps that are timed. */
export const TIMED_ADAMW: AdamWSettings = {
  learningRate: 1e-5,
  beta1: 0.9,
  beta2: 0.999,
  adamEpsilon: 1e-8,
  weightDecay: 0,
  maxGradNorm: 1,
};

/** One training step: forward, the surrogate's slopes, backward, clipping, AdamW. */
export async function trainingStep(
  model: LanguageModel,
  optimizer: AdamW,
  sequences: readonly Sequence[],
  work: ModelWork = {},
): Promise<{ gradNorm: number }> {
  const tokens = sequences.reduce((sum, s) => sum + s.promptIds.length + s.responseIds.length, 0);
  model.zeroGradients();
  await model.backward(
    sequences,
    (n) => new Float32Array(sequences[n]!.responseIds.length).fill(-1 / tokens),
    work,
  );
  return optimizer.step(TIMED_ADAMW);
}

/** A prompt to continue. `draws` seeds what is drawn for it, the same each time that it is continued. */
export interface RandomPrompt extends Omit<GenerateOptions, "signal" | "uniform"> {
  promptIds: number[];
  draws: number;
}

/** Makes prompts that have nothing in common, new ones with each call: no run reuses another's prefixes. */
export function randomPrompts(
  config: ModelConfig,
  { prompt, ...options }: { prompt: number } & Omit<RandomPrompt, "promptIds" | "draws">,
): (count: number) => RandomPrompt[] {
  const ids = randomIds(config);
  return (count) =>
    Array.from({ length: count }, (_, n) => ({ promptIds: ids(prompt), ...options, draws: 100 + n }));
}

/** With the same draws each time that a prompt is continued. */
export const seeded = <T extends { draws: number }>({ draws, ...request }: T) => ({
  ...request,
  uniform: uniforms(draws),
});

/** Milliseconds of all prompts with one token each, and of the `maxTokens` after it. */
export async function decodingTimes(
  model: LanguageModel,
  prompts: readonly RandomPrompt[],
): Promise<{ prompt: number; tokens: number; firstLogprobs: number[] }> {
  model.forgetPrefixes();
  // What one token takes contains the prompt; the difference is decoding alone.
  const start = performance.now();
  const first = await model.generateAll(prompts.map((request) => ({ ...seeded(request), maxTokens: 1 })));
  const middle = performance.now();
  await model.generateAll(
    prompts.map((request) => ({ ...seeded(request), maxTokens: request.maxTokens + 1 })),
  );
  const end = performance.now();
  return {
    prompt: middle - start,
    tokens: end - middle,
    firstLogprobs: first.map(({ logprobs }) => logprobs[0]!),
  };
}
