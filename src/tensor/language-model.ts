import { checkDistributionBytes } from "../core/distribution-bound.ts";
import { InputError } from "../core/errors.ts";
import { readFolderText } from "../core/folder-text.ts";
import type { FolderReader, FolderWriter } from "../core/ports.ts";
import type { Backend } from "./backend.ts";
import { Checkpoint } from "./checkpoint.ts";
import { isRecurrent, type ModelConfig, modelConfigJson, parseModelConfig, rotarySize } from "./config.ts";
import { type DecodeRequest, Decoder, type DecodeWork } from "./decoder.ts";
import { readDistribution, type TeacherTarget } from "./distribution-tiles.ts";
import { type Generated, type GenerateOptions, generate } from "./generate.ts";
import { type WeightChoice, WeightLoader, weightFormat } from "./load-weights.ts";
import {
  checkSequences,
  type ModelWork,
  makePacks,
  type Pack,
  passTokens,
  type Sequence,
  type Sharing,
} from "./packing.ts";
import {
  arrangeTensors,
  type GradientPart,
  gradientParts,
  type ModelTensors,
  partTensors,
  scorePass,
  TrainingPass,
} from "./passes.ts";
import { PrefixStore } from "./prefix-store.ts";
import { RopeTable } from "./rope-table.ts";
import { writeSafetensors } from "./safetensors.ts";
import { checkBounds } from "./sampling.ts";
import { elements, MOST_TOP } from "./shapes.ts";
import { storedPieces } from "./stored-pieces.ts";
import type { Tensor } from "./tensor.ts";
import { trainingPacks } from "./training-packs.ts";
import { modelShapes } from "./tuning-shapes.ts";
import { isFrozen, LARGEST_F16 } from "./weight-format.ts";
import { checkTensorNames, initialValues, parameterShapes, staysF32, storedNames } from "./weights.ts";
import { yieldToEventLoop } from "./yield-to-event-loop.ts";

const SAVED_FORMATS = {
  f32: { format: "F32", dtype: "float32" },
  bf16: { format: "BF16", dtype: "bfloat16" },
  f16: { format: "F16", dtype: "float16" },
} as const;

/** What to tell of the distribution before each response token, beside the token's own log-probability. */
export interface WantedDistribution {
  /** Most probable tokens, from 0 to 64. */
  topK?: number | undefined;
  entropy?: boolean | undefined;
  /** What the head reads before each response token: `headLogprobs` then tells any other token there. */
  hidden?: boolean | undefined;
  /** Every token, at most `MOST_DISTRIBUTION_BYTES` of all response tokens together. */
  distribution?: boolean | undefined;
}

/** Of each response token of a sequence. */
export interface SequenceScores {
  /** [response tokens] natural logarithm */
  logprobs: Float32Array;
  /** [response tokens] in nats */
  entropy?: Float32Array;
  /** [response tokens · topK], the most probable first */
  topIds?: Uint32Array;
  topLogprobs?: Float32Array;
  /** [response tokens · hidden size] */
  hidden?: Float32Array;
  /** [response tokens · vocabulary] */
  distribution?: Float32Array;
}

/** Rows of one call of `headLogprobs`: each costs a product with the whole vocabulary. */
const HEAD_ROWS = 128;

/** A language model on a backend: scored, sampled and saved, and trained where its parameters are f32. */
export class LanguageModel {
  readonly parameterCount: number;
  readonly #tensors: ModelTensors;
  readonly #rope: RopeTable;
  readonly #gradients = new Map<string, Tensor>();
  readonly #prefixes: PrefixStore;
  #decoder: Decoder | undefined;
  #isTuned = false;

  private constructor(
    readonly backend: Backend,
    readonly config: ModelConfig,
    /** Names as in Hugging Face files, shapes [out, in]; a tied head has no entry of its own. */
    readonly parameters: ReadonlyMap<string, Tensor>,
    /** Folder of the model, for messages. */
    readonly name: string,
  ) {
    this.#tensors = arrangeTensors(config, parameters);
    this.#rope = new RopeTable(backend, rotarySize(config), config.ropeTheta, config.maxPositions);
    this.#prefixes = new PrefixStore(backend, 0);
    this.parameterCount = [...parameters.values()].reduce((sum, { shape }) => sum + elements(shape), 0);
  }

  /**
   * Loads a Hugging Face folder: config.json and safetensors of F32, F16 or BF16, in one file or in shards, piece by
   * piece. `weights` says how matrices are kept on the device (default f32); other formats than f32 cannot be trained.
   * `onProgress` counts bytes of the files. Every fault of the folder is an InputError.
   */
  static async load(
    backend: Backend,
    folder: FolderReader,
    work: Pick<ModelWork, "signal" | "onProgress"> & { weights?: WeightChoice } = {},
  ): Promise<LanguageModel> {
    const place = `${folder.name}/config.json`;
    if (!(await folder.list()).includes("config.json"))
      throw new InputError("this file is missing; expected a Hugging Face model folder", { file: place });
    const config = parseModelConfig(await readFolderText(folder, "config.json"), place);
    const checkpoint = await Checkpoint.open(folder);
    await checkTensorNames(checkpoint, config, work.signal);
    const shapes = parameterShapes(config);
    const storedName = storedNames(checkpoint, config);
    const total = [...shapes.keys()].reduce((sum, name) => sum + checkpoint.bytes(storedName(name)), 0);
    const parameters = new Map<string, Tensor>();
    let done = 0;
    const loader = new WeightLoader(backend, checkpoint, work.signal, (bytes) => {
      done += bytes;
      work.onProgress?.(done, total);
    });
    try {
      const wanted = function* (): Generator<[Tensor, string]> {
        for (const [name, shape] of shapes) {
          const stored = storedName(name);
          const format = weightFormat(work.weights ?? "f32", name, shape, checkpoint.format(stored, shape));
          const t = backend.allocateWeight(format, shape);
          parameters.set(name, t);
          yield [t, stored];
        }
      };
      await loader.fill(wanted());
      await backend.sync();
      await backend.tune?.(modelShapes(config, backend.packTokens, "forward"));
      return new LanguageModel(backend, config, parameters, folder.name);
    } catch (error) {
      backend.free(...parameters.values());
      throw error;
    }
  }

  /** A model of parameters made elsewhere, by their names; `dispose` frees them. */
  static of(
    backend: Backend,
    config: ModelConfig,
    parameters: ReadonlyMap<string, Tensor>,
    name: string,
  ): LanguageModel {
    return new LanguageModel(backend, config, parameters, name);
  }

  /** A new model to train from scratch: normal(0, 0.02) weights, norms of 1. The seed decides every value. */
  static create(backend: Backend, config: ModelConfig, seed: number): LanguageModel {
    const parameters = new Map<string, Tensor>();
    for (const [name, shape] of parameterShapes(config))
      parameters.set(name, backend.fromArray(initialValues(config, name, shape, seed), shape));
    return new LanguageModel(backend, config, parameters, "new model");
  }

  /** Formats that the weights are kept in, in the order of first use: one, but for the parts that stay finer. */
  get formats(): string[] {
    const matrices = [...this.parameters.values()].filter(({ shape }) => shape.length === 2);
    return [...new Set(matrices.map(({ dtype }) => dtype))];
  }

  /** Gradients by parameter name; empty before the first `zeroGradients` or `backward`. */
  get gradients(): ReadonlyMap<string, Tensor> {
    return this.#gradients;
  }

  zeroGradients(): void {
    const frozen = [...this.parameters.values()].find(({ dtype }) => isFrozen(dtype));
    if (frozen) throw new Error(`weights in ${frozen.dtype} cannot be trained: load the model in f32`);
    for (const [name, { shape }] of this.parameters) {
      const gradient = this.#gradients.get(name);
      if (gradient === undefined) this.#gradients.set(name, this.backend.zeros(shape));
      else this.backend.fill(gradient, 0);
    }
  }

  /**
   * From now on `score` keeps what the layers leave of the tokens that its sequences share (keys and values, states of
   * linear layers), up to `bytes`, for calls to come. It is right as long as the parameters stay as they are: whoever
   * changes them calls `forgetPrefixes`.
   */
  keepPrefixes(bytes: number): void {
    this.#prefixes.budget = bytes;
    this.#prefixes.trim();
  }

  /** Gives up what was kept of earlier calls: it no longer holds once the parameters have changed. */
  forgetPrefixes(): void {
    this.#prefixes.clear();
    this.#decoder?.forget();
  }

  /**
   * Natural-log probabilities of the response tokens of each sequence, at temperature 1, given all before them. What
   * sequences have in common at their beginning is computed once.
   * Throws an InputError for ids outside the vocabulary and for results that are not finite.
   */
  async score(sequences: readonly Sequence[], work: ModelWork = {}): Promise<Float32Array[]> {
    const scores = await this.scoreDistributions(sequences, {}, work);
    return scores.map(({ logprobs }) => logprobs);
  }

  /** As `score`, with what is asked for of the distribution that each response token was drawn from. */
  async scoreDistributions(
    sequences: readonly Sequence[],
    wanted: WantedDistribution,
    work: ModelWork = {},
  ): Promise<SequenceScores[]> {
    const { backend, config, name } = this;
    const top = wanted.topK ?? 0;
    if (!Number.isInteger(top) || top < 0 || top > Math.min(MOST_TOP, config.vocabularySize))
      throw new InputError(
        `expected from 0 to ${Math.min(MOST_TOP, config.vocabularySize)} most probable tokens, got ${top}`,
        { file: name },
      );
    const { vocabularySize } = config;
    const all = wanted.distribution === true;
    if (all) {
      const tokens = sequences.reduce((sum, { responseIds }) => sum + responseIds.length, 0);
      checkDistributionBytes(name, tokens, vocabularySize);
    }
    const prefixes = this.#prefixes;
    const stored = { prefixes: prefixes.prefixes, wanted: prefixes.budget > 0 };
    const scores = sequences.map(({ responseIds }): SequenceScores => {
      const none = () => new Float32Array(0);
      return {
        logprobs: none(),
        ...(wanted.entropy ? { entropy: none() } : {}),
        ...(top > 0 ? { topIds: new Uint32Array(0), topLogprobs: none() } : {}),
        ...(wanted.hidden ? { hidden: none() } : {}),
        ...(all ? { distribution: new Float32Array(responseIds.length * vocabularySize) } : {}),
      };
    });
    await this.#eachPack(sequences, work, { keep: true, stored }, async (pack, tables) => {
      const layers = pack.from === null ? null : prefixes.layers(pack.from);
      const asked = top > 0 || wanted.entropy ? top : null;
      const wantsHidden = wanted.hidden === true || all;
      const pass = scorePass(backend, config, this.#tensors, tables, pack, layers, asked, wantsHidden);
      const { logprobs, distribution, hidden, kept } = pass;
      if (pack.keep !== null) prefixes.add(pack.keep.prefix, kept);
      try {
        const read = (t: Tensor | null) => (t === null ? null : backend.read(t));
        // Every read is submitted before the first is awaited, so that the device does not idle between them.
        const [values, entropy, ids, most, rows] = await Promise.all([
          this.#readLogprobs(logprobs, pack),
          read(wanted.entropy ? distribution!.entropy : null),
          read(top > 0 ? distribution!.topIds : null),
          read(top > 0 ? distribution!.topLogprobs : null),
          read(wanted.hidden ? hidden : null),
          all
            ? readDistribution(
                backend,
                { normed: hidden!, head: this.#tensors.head },
                pack,
                (index) => scores[index]!.distribution!,
              )
            : null,
        ]);
        for (const { index, row, count } of pack.segments) {
          const to = scores[index]!;
          const width = config.hiddenSize;
          if (rows !== null) to.hidden = rows.slice(row * width, (row + count) * width);
          if (entropy !== null) to.entropy = entropy.slice(row, row + count);
          if (ids !== null) to.topIds = Uint32Array.from(ids.subarray(row * top, (row + count) * top));
          if (most !== null) to.topLogprobs = most.slice(row * top, (row + count) * top);
        }
        return values;
      } finally {
        backend.free(logprobs);
        if (distribution !== null) backend.free(...Object.values<Tensor>({ ...distribution }));
        if (hidden !== null) backend.free(hidden);
      }
    }).then((logprobs) => {
      for (const [i, values] of logprobs.entries()) scores[i]!.logprobs = values;
    });
    return scores;
  }

  /**
   * [ids] natural-log probabilities of single tokens, each in a place whose `hidden` row [ids · hidden size]
   * `scoreDistributions` told: any token of the vocabulary, without another pass.
   */
  async headLogprobs(
    hidden: Float32Array,
    ids: readonly number[],
    { signal }: Pick<ModelWork, "signal"> = {},
  ): Promise<Float32Array> {
    const { backend, config } = this;
    const width = config.hiddenSize;
    const results = new Float32Array(ids.length);
    for (let from = 0; from < ids.length; from += HEAD_ROWS) {
      signal?.throwIfAborted();
      const some = Uint32Array.from(ids.slice(from, from + HEAD_ROWS));
      const logprobs = backend.scope((keep) => {
        const rows = backend.fromArray(hidden.slice(from * width, (from + some.length) * width), [
          some.length,
          width,
        ]);
        const targets = backend.fromArray(some, [some.length]);
        return keep(backend.headLogprobs(rows, this.#tensors.head, targets).logprobs);
      });
      try {
        results.set(await backend.read(logprobs), from);
      } finally {
        backend.free(logprobs);
      }
    }
    return results;
  }

  /**
   * Forward and backward. `coefficients(i, logprobs)` gives ∂L/∂log p of each response token of sequence i; gradients
   * accumulate in `gradients`. After an error the gradients are incomplete: call `zeroGradients` before going on.
   */
  async backward(
    sequences: readonly Sequence[],
    coefficients: (index: number, logprobs: Float32Array) => Float32Array,
    work: ModelWork = {},
  ): Promise<Float32Array[]> {
    return this.#train(sequences, work, async (pass, pack, reading, gradients, finished) => {
      const slopes = new Float32Array(pack.rows.length);
      const logprobs = await reading;
      for (const { index, row, count } of pack.segments) {
        const given = coefficients(index, logprobs.slice(row, row + count));
        if (given.length !== count)
          throw new Error(`${given.length} coefficients for the ${count} tokens of sequence ${index + 1}`);
        if (!given.every(Number.isFinite))
          throw new InputError(`a coefficient of sequence ${index + 1} is not finite`, { file: this.name });
        slopes.set(given, row);
      }
      // Where every token is clipped the gradient is exactly zero.
      if (slopes.some((slope) => slope !== 0)) await pass.backward(gradients, slopes, finished);
    });
  }

  /**
   * Forward and backward of L = Σ weight · KL_t, the reverse KL of each response token's distribution against its teacher's
   * target; gradients accumulate as in `backward`. No more than a tile of response tokens has its logits at a time.
   *
   * @param targets of each sequence; all of the same number of tokens a place, with ids or without
   * @returns of each sequence [response tokens] log-probabilities of its own tokens, and KL_t in nats
   * @throws InputError for targets of another shape or vocabulary, and for a divergence that is not finite
   */
  async backwardDivergence(
    sequences: readonly Sequence[],
    targets: readonly TeacherTarget[],
    work: ModelWork = {},
  ): Promise<{ logprobs: Float32Array; kl: Float32Array }[]> {
    this.#checkTargets(sequences, targets);
    const found = sequences.map(() => new Float32Array(0));
    const logprobs = await this.#train(sequences, work, async (pass, pack, _, gradients, finished) => {
      const kl = await pass.backwardDivergence(gradients, targets, finished);
      for (const { index, row, count } of pack.segments) {
        found[index] = kl.slice(row, row + count);
        const at = found[index].findIndex((value) => !Number.isFinite(value));
        if (at >= 0)
          throw new InputError(
            `the divergence of response token ${at + 1} of sequence ${index + 1} is ${found[index][at]}`,
            { file: this.name },
          );
      }
    });
    return logprobs.map((each, n) => ({ logprobs: each, kl: found[n]! }));
  }

  #checkTargets(sequences: readonly Sequence[], targets: readonly TeacherTarget[]): void {
    const { vocabularySize } = this.config;
    const widths = new Set<number>();
    for (const [n, { responseIds }] of sequences.entries()) {
      const { weights, logprobs, ids } = targets[n]!;
      const count = responseIds.length;
      const fail = (what: string) => {
        throw new InputError(`what the teacher told of sequence ${n + 1}: ${what}`, { file: this.name });
      };
      if (weights.length !== count) fail(`${weights.length} weights for ${count} tokens`);
      if (count === 0) continue;
      const width = logprobs.length / count;
      widths.add(ids === undefined ? -1 : width);
      if (ids === undefined && width !== vocabularySize)
        fail(
          `${logprobs.length} log-probabilities for ${count} tokens over a vocabulary of ${vocabularySize}`,
        );
      if (ids === undefined) continue;
      if (ids.length !== logprobs.length || !(Number.isInteger(width) && width >= 1 && width <= MOST_TOP))
        fail(`${ids.length} ids and ${logprobs.length} log-probabilities for ${count} tokens`);
      const foreign = ids.find((id) => id >= vocabularySize);
      if (foreign !== undefined) fail(`token id ${foreign} is not in the vocabulary of ${vocabularySize}`);
    }
    if (widths.size > 1)
      throw new InputError("the teacher told of some sequences more tokens a place than of others", {
        file: this.name,
      });
  }

  /** A training pass over each pack, and what `slope` makes of it: it adds to the gradients. */
  async #train(
    sequences: readonly Sequence[],
    work: ModelWork,
    slope: (
      pass: TrainingPass,
      pack: Pack,
      logprobs: Promise<Float32Array>,
      gradients: ModelTensors,
      finished: ((part: GradientPart) => Promise<void>) | undefined,
    ) => Promise<void>,
  ): Promise<Float32Array[]> {
    if (this.#gradients.size === 0) this.zeroGradients();
    await this.#tuneTraining();
    const gradients = arrangeTensors(this.config, this.#gradients);
    const finished = this.#announce(gradients, work.onGradients);
    const logprobs = await this.#eachPack(sequences, work, { keep: false }, async (pack, tables, last) => {
      const pass = new TrainingPass(this.backend, this.config, this.#tensors, tables, pack, work.recompute);
      try {
        const logprobs = this.#readLogprobs(pass.logprobs, pack);
        // An error comes to light where they are waited for.
        logprobs.catch(() => {});
        await slope(pass, pack, logprobs, gradients, last ? finished?.one : undefined);
        return await logprobs;
      } finally {
        pass.dispose();
      }
    });
    await finished?.rest();
    return logprobs;
  }

  /** Tells `onGradients` of each part of the gradients, and in the end of those that no pass told of. */
  #announce(gradients: ModelTensors, onGradients: ModelWork["onGradients"]) {
    if (onGradients === undefined) return null;
    const { backend, config } = this;
    const left = new Set(gradientParts(config));
    /** That the device has computed the part before. */
    let before = Promise.resolve();
    const one = async (part: GradientPart) => {
      left.delete(part);
      await onGradients(partTensors(gradients, part));
      const computed = backend.sync();
      // Waited for one part later; an error is not lost until then.
      computed.catch(() => {});
      await before;
      before = computed;
      await yieldToEventLoop(backend);
    };
    const rest = async () => {
      for (const part of left) await one(part);
      await before;
    };
    return { one, rest };
  }

  /** Continues a prompt; what the layers need of the tokens before is kept from token to token. */
  async generate(promptIds: readonly number[], options: GenerateOptions): Promise<Generated> {
    this.#checkGeneration({ ...options, promptIds });
    return generate(this.backend, this.config, this.#tensors, this.#rope, promptIds, options, this.name);
  }

  /**
   * Continues many prompts together, and computes again as little as it can of what they share with those of the call
   * before. Whoever changes the parameters calls `forgetPrefixes`.
   */
  async generateAll(requests: readonly DecodeRequest[], work: DecodeWork = {}): Promise<Generated[]> {
    for (const request of requests) this.#checkGeneration(request);
    this.#decoder ??= new Decoder(this.backend, this.config, this.#tensors, this.#rope, this.name);
    return this.#decoder.decode(requests, work);
  }

  /** Gives back the memory that `generateAll` keeps between calls. */
  releaseDecoding(): void {
    this.#decoder?.dispose();
  }

  #checkGeneration({ promptIds, maxTokens, temperature, ...bounds }: DecodeRequest): void {
    checkSequences([{ promptIds, responseIds: [] }], this.config, this.name);
    if (!(temperature >= 0) || !Number.isFinite(temperature))
      throw new InputError(`temperature ${temperature} is not a number from 0 on`);
    checkBounds(bounds);
    const room = this.config.maxPositions - promptIds.length;
    if (maxTokens > room)
      throw new InputError(
        `${promptIds.length} prompt tokens and ${maxTokens} more exceed the ${this.config.maxPositions} positions of the model`,
        { file: this.name },
      );
  }

  /** Writes config.json and model.safetensors, a model that transformers opens as text alone. The caller adds other files and commits. */
  async save(writer: FolderWriter, options: { dtype?: "f32" | "bf16" | "f16" } = {}): Promise<void> {
    const { format, dtype } = SAVED_FORMATS[options.dtype ?? "f32"];
    await writer.write("config.json", [new TextEncoder().encode(modelConfigJson(this.config, dtype))]);
    const entries = [...this.parameters].map(([name, { shape }]) => ({
      name,
      dtype: staysF32(name) ? "F32" : format,
      shape,
    }));
    const data = (index: number) => {
      const { name } = entries[index]!;
      const stored = staysF32(name) ? "F32" : format;
      const limit = stored === "F16" ? LARGEST_F16 : Number.MAX_VALUE;
      return storedPieces(this.backend, this.parameters.get(name)!, stored, (values, at) => {
        // A loop of its own: with a call per value, looking takes longer than reading them from the device.
        let bad = 0;
        while (bad < values.length && Math.abs(values[bad]!) <= limit) bad += 1;
        if (bad < values.length)
          throw new InputError(`value ${at + bad} is ${values[bad]} and cannot be saved as ${stored}`, {
            file: this.name,
            key: name,
          });
      });
    };
    await writer.write("model.safetensors", writeSafetensors(entries, data));
  }

  dispose(): void {
    this.backend.free(...this.parameters.values(), ...this.#gradients.values());
    this.#gradients.clear();
    this.#prefixes.clear();
    this.#decoder?.dispose();
    this.#rope.dispose();
  }

  /** Runs `pass` on every pack and deals the rows out to the sequences. */
  async #eachPack(
    sequences: readonly Sequence[],
    work: ModelWork,
    sharing: Sharing,
    pass: (pack: Pack, tables: { cos: Tensor; sin: Tensor }, last: boolean) => Promise<Float32Array>,
  ): Promise<Float32Array[]> {
    const { backend, config } = this;
    checkSequences(sequences, config, this.name);
    const { maxTokensPerPack: most = passTokens(backend, config), shortestPrefix: shortest } = work;
    const packs = sharing.keep
      ? makePacks(sequences, most, { ...sharing, recurrent: isRecurrent(config), shortest })
      : trainingPacks(sequences, config, backend, work);
    const total = packs.reduce((sum, { tokens }) => sum + tokens, 0);
    const results = sequences.map(() => new Float32Array(0));
    let [done, computed] = [0, 0];
    const uses = packs.flatMap(({ from }) => (from === null ? [] : [from]));
    this.#prefixes.pin(uses);
    const finish = async (pack: Pack, passing: Promise<Float32Array>): Promise<void> => {
      const logprobs = await passing;
      for (const { index, row, count } of pack.segments) results[index] = logprobs.slice(row, row + count);
      done += pack.tokens;
      computed += pack.ids.length;
      work.onProgress?.(done, total);
      work.onComputed?.({ given: done, computed });
      if (pack.from !== null) this.#prefixes.unpin(uses.splice(uses.indexOf(pack.from), 1));
      this.#prefixes.trim();
    };
    let before = Promise.resolve();
    try {
      for (const [n, pack] of packs.entries()) {
        work.signal?.throwIfAborted();
        const longest = pack.positions.reduce((max, position) => Math.max(max, position), 0) + 1;
        const finished = finish(pack, pass(pack, this.#rope.tables(longest), n === packs.length - 1));
        // An error comes to light where the pass is waited for.
        finished.catch(() => {});
        // While the host reads the scores of one pack, the device computes the next. Gradients go one pack at a time.
        const earlier = before;
        before = finished;
        await (sharing.keep ? earlier : finished);
        await yieldToEventLoop(this.backend);
      }
      await before;
      return results;
    } finally {
      await Promise.allSettled([before]);
      this.#prefixes.unpin(uses);
      this.#prefixes.trim();
    }
  }

  async #tuneTraining(): Promise<void> {
    if (this.#isTuned) return;
    this.#isTuned = true;
    const { backend, config } = this;
    await backend.tune?.(modelShapes(config, backend.packTokens, "backward"));
  }

  async #readLogprobs(t: Tensor, pack: Pack): Promise<Float32Array> {
    const logprobs = await this.backend.read(t);
    for (const { index, row, count } of pack.segments)
      for (let j = 0; j < count; j++)
        if (!Number.isFinite(logprobs[row + j]))
          throw new InputError(
            `the log-probability of response token ${j + 1} of sequence ${index + 1} is ${logprobs[row + j]}`,
            { file: this.name },
          );
    return logprobs;
  }
}
