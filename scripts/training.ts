/** Training from scratch on rows, as the scripts of the shipped models share it. */
import { type AdamW, crossEntropyBackward, type LanguageModel, type Sequence } from "../src/tensor/index.ts";

export interface TrainingRow {
  /** The first token predicts nothing of itself: it is the sequence's prompt, all the rest is scored. */
  sequence: Sequence;
  /** Tokens before the response. */
  context: number;
}

/** A row of ids: what is read, and what is written. */
export function trainingRow(promptIds: readonly number[], responseIds: readonly number[]): TrainingRow {
  const ids = [...promptIds, ...responseIds];
  return { sequence: { promptIds: ids.slice(0, 1), responseIds: ids.slice(1) }, context: promptIds.length };
}

export interface TrainingOptions {
  steps: number;
  /** Ends there at the latest, with a learning rate that has come down. */
  minutes: number;
  /** Tokens of one step, about: rows are drawn until there are as many. */
  tokens: number;
  /** Of the cosine, before which comes a short warm-up. */
  peakLearningRate: number;
  /** Weight of the mean over the tokens of the contexts; that over the responses has 1. */
  contextShare: number;
  packTokens: number;
  /** Where a run that goes on stands, from 0 to 1: the schedule's beginning and end. All of it when absent. */
  span?: readonly [from: number, to: number];
  /** The next row; null when there are no more. */
  draw: (progress: number) => TrainingRow | null;
  /** After each step, counted from 1. */
  onStep?: (step: number) => Promise<void>;
}

/**
 * AdamW on the mean over response tokens and `contextShare` of the mean over context tokens; cosine to a tenth.
 *
 * @returns tokens seen and steps taken
 */
export async function trainOnRows(
  model: LanguageModel,
  optimizer: AdamW,
  options: TrainingOptions,
): Promise<{ tokens: number; steps: number }> {
  const { steps, contextShare, span: [from, to] = [0, 1] } = options;
  const started = performance.now();
  const minutes = () => (performance.now() - started) / 60_000;
  let [seen, smoothed, taken] = [0, Number.NaN, 0];
  for (let step = 0; step < steps; step++) {
    const done = Math.max(step / steps, minutes() / options.minutes);
    const progress = from + (to - from) * Math.min(1, done);
    if (done >= 1) break;
    const rows: TrainingRow[] = [];
    for (let tokens = 0; tokens < options.tokens; ) {
      const row = options.draw(progress);
      if (row === null) return { tokens: seen, steps: taken };
      rows.push(row);
      tokens += row.sequence.responseIds.length;
    }
    const responseTokens = rows.reduce((n, r) => n + r.sequence.responseIds.length + 1 - r.context, 0);
    const contextTokens = rows.reduce((n, r) => n + r.context - 1, 0);
    model.zeroGradients();
    const weights = rows.map(({ sequence, context }) =>
      sequence.responseIds.map((_, i) =>
        i + 1 >= context ? 1 / responseTokens : contextShare / contextTokens,
      ),
    );
    const { logprobs } = await crossEntropyBackward(
      model,
      rows.map((row) => row.sequence),
      (index) => weights[index]!,
      { maxTokensPerPack: options.packTokens },
    );
    let loss = 0;
    for (const [n, { context }] of rows.entries())
      for (const value of logprobs[n]!.subarray(context - 1)) loss -= value / responseTokens;
    const warmup = Math.min(1, (optimizer.steps + 1) / 50);
    const cosine = 0.1 + 0.9 * 0.5 * (1 + Math.cos(Math.PI * progress));
    const { gradNorm } = await optimizer.step({
      learningRate: warmup * options.peakLearningRate * cosine,
      beta1: 0.9,
      beta2: 0.98,
      adamEpsilon: 1e-8,
      weightDecay: 0.01,
      maxGradNorm: 1,
    });
    taken += 1;
    seen += responseTokens + contextTokens;
    smoothed = Number.isNaN(smoothed) ? loss : 0.98 * smoothed + 0.02 * loss;
    if (step < 3 || (step + 1) % 50 === 0) {
      console.log(
        `step ${step + 1}: response loss ${loss.toFixed(3)} (mean ${smoothed.toFixed(3)}), gradient norm ${gradNorm.toFixed(2)}, ` +
          `${Math.round(seen / (minutes() * 60))} tokens/s, ${minutes().toFixed(1)} min`,
      );
    }
    await options.onStep?.(step + 1);
  }
  return { tokens: seen, steps: taken };
}

/** The config of a small model of Qwen3's kind, tied, with heads of 32. */
export function smallQwen3(
  { hidden, layers, vocabulary }: { hidden: number; layers: number; vocabulary: number },
  { beginsText, endsTurn }: { beginsText: number | undefined; endsTurn: number | undefined },
): string {
  return JSON.stringify({
    architectures: ["Qwen3ForCausalLM"],
    model_type: "qwen3",
    hidden_act: "silu",
    attention_bias: false,
    vocab_size: vocabulary,
    hidden_size: hidden,
    intermediate_size: Math.round((hidden * 8) / 3 / 32) * 32,
    num_hidden_layers: layers,
    num_attention_heads: hidden / 32,
    num_key_value_heads: hidden / 64,
    head_dim: 32,
    max_position_embeddings: 40960,
    rms_norm_eps: 1e-6,
    rope_theta: 100000,
    tie_word_embeddings: true,
    initializer_range: 0.02,
    use_sliding_window: false,
    torch_dtype: "bfloat16",
    bos_token_id: beginsText,
    eos_token_id: endsTurn,
  });
}
