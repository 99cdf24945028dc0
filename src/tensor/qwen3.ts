import { InputError } from "../core/errors.ts";
import type { FolderReader, FolderWriter } from "../core/ports.ts";
import type { Backend, Tensor } from "./backend.ts";
import { Checkpoint, readText } from "./checkpoint.ts";
import { parseQwen3Config, type Qwen3Config, qwen3ConfigJson } from "./config.ts";
import { letMessagesIn } from "./let-messages-in.ts";
import { encodeFloats } from "./number-format.ts";
import { checkSequences, type ModelWork, makePacks, type Pack, type Sequence } from "./packing.ts";
import { type Generated, type GenerateOptions, generate } from "./qwen3-generate.ts";
import { arrangeTensors, type ModelTensors, scorePass, TrainingPass } from "./qwen3-pass.ts";
import { RopeTable } from "./rope-table.ts";
import { writeSafetensors } from "./safetensors.ts";
import { elements } from "./shapes.ts";
import { checkTensorNames, initialValues, parameterShapes } from "./weights.ts";

const SAVED_FORMATS = {
  f32: { format: "F32", dtype: "float32" },
  bf16: { format: "BF16", dtype: "bfloat16" },
  f16: { format: "F16", dtype: "float16" },
} as const;

/** The largest f32 that an f16 can hold after rounding. */
const LARGEST_F16 = 65_519;

/** A Qwen3 language model with f32 parameters on a backend: scored, trained, sampled and saved. */
export class Qwen3Model {
  readonly parameterCount: number;
  readonly #tensors: ModelTensors;
  readonly #rope: RopeTable;
  readonly #gradients = new Map<string, Tensor>();

  private constructor(
    readonly backend: Backend,
    readonly config: Qwen3Config,
    /** Names as in Hugging Face files, shapes [out, in]; a tied head has no entry of its own. */
    readonly parameters: ReadonlyMap<string, Tensor>,
    /** Folder of the model, for messages. */
    readonly name: string,
  ) {
    this.#tensors = arrangeTensors(config, parameters);
    this.#rope = new RopeTable(backend, config.headSize, config.ropeTheta, config.maxPositions);
    this.parameterCount = [...parameters.values()].reduce((sum, { shape }) => sum + elements(shape), 0);
  }

  /**
   * Loads a Hugging Face folder: config.json and safetensors of F32, F16 or BF16, in one file or in shards. One tensor
   * is in memory at a time. `onProgress` counts parameters. Every fault of the folder is an InputError.
   */
  static async load(
    backend: Backend,
    folder: FolderReader,
    work: Pick<ModelWork, "signal" | "onProgress"> = {},
  ): Promise<Qwen3Model> {
    const place = `${folder.name}/config.json`;
    if (!(await folder.list()).includes("config.json"))
      throw new InputError("this file is missing; expected a Hugging Face model folder", { file: place });
    const config = parseQwen3Config(await readText(folder, "config.json"), place);
    const checkpoint = await Checkpoint.open(folder);
    await checkTensorNames(checkpoint, config, work.signal);
    const shapes = parameterShapes(config);
    const total = [...shapes.values()].reduce((sum, shape) => sum + elements(shape), 0);
    const parameters = new Map<string, Tensor>();
    let done = 0;
    try {
      for (const [name, shape] of shapes) {
        parameters.set(name, backend.fromArray(await checkpoint.read(name, shape, work.signal), shape));
        done += elements(shape);
        work.onProgress?.(done, total);
      }
      await backend.sync();
      return new Qwen3Model(backend, config, parameters, folder.name);
    } catch (error) {
      backend.free(...parameters.values());
      throw error;
    }
  }

  /** A new model to train from scratch: normal(0, 0.02) weights, norms of 1. The seed decides every value. */
  static create(backend: Backend, config: Qwen3Config, seed: number): Qwen3Model {
    const parameters = new Map<string, Tensor>();
    for (const [name, shape] of parameterShapes(config))
      parameters.set(name, backend.fromArray(initialValues(name, shape, seed), shape));
    return new Qwen3Model(backend, config, parameters, "new model");
  }

  /** Gradients by parameter name; empty before the first `zeroGradients` or `backward`. */
  get gradients(): ReadonlyMap<string, Tensor> {
    return this.#gradients;
  }

  zeroGradients(): void {
    for (const [name, { shape }] of this.parameters) {
      const gradient = this.#gradients.get(name);
      if (gradient === undefined) this.#gradients.set(name, this.backend.zeros(shape));
      else this.backend.fill(gradient, 0);
    }
  }

  /**
   * Natural-log probabilities of the response tokens of each sequence, at temperature 1, given all before them.
   * Throws an InputError for ids outside the vocabulary and for results that are not finite.
   */
  async score(sequences: readonly Sequence[], work: ModelWork = {}): Promise<Float32Array[]> {
    return this.#eachPack(sequences, work, async (pack, tables) => {
      const logprobs = scorePass(this.backend, this.config, this.#tensors, tables, pack);
      try {
        return await this.#readLogprobs(logprobs, pack);
      } finally {
        this.backend.free(logprobs);
      }
    });
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
    if (this.#gradients.size === 0) this.zeroGradients();
    const gradients = arrangeTensors(this.config, this.#gradients);
    return this.#eachPack(sequences, work, async (pack, tables) => {
      const pass = new TrainingPass(this.backend, this.config, this.#tensors, tables, pack, work.recompute);
      try {
        const logprobs = await this.#readLogprobs(pass.logprobs, pack);
        const slopes = new Float32Array(pack.rows.length);
        for (const { index, row, count } of pack.segments) {
          const given = coefficients(index, logprobs.slice(row, row + count));
          if (given.length !== count)
            throw new Error(`${given.length} coefficients for the ${count} tokens of sequence ${index + 1}`);
          if (!given.every(Number.isFinite))
            throw new InputError(`a coefficient of sequence ${index + 1} is not finite`, { file: this.name });
          slopes.set(given, row);
        }
        // Where every token is clipped the gradient is exactly zero.
        if (slopes.some((slope) => slope !== 0)) pass.backward(gradients, slopes);
        return logprobs;
      } finally {
        pass.dispose();
      }
    });
  }

  /** Continues a prompt, with keys and values kept from token to token. */
  async generate(promptIds: readonly number[], options: GenerateOptions): Promise<Generated> {
    checkSequences([{ promptIds, responseIds: [] }], this.config, this.name);
    const room = this.config.maxPositions - promptIds.length;
    if (options.maxTokens > room)
      throw new InputError(
        `${promptIds.length} prompt tokens and ${options.maxTokens} more exceed the ${this.config.maxPositions} positions of the model`,
        { file: this.name },
      );
    return generate(this.backend, this.config, this.#tensors, this.#rope, promptIds, options, this.name);
  }

  /** Writes config.json and model.safetensors. The caller adds other files and commits. */
  async save(writer: FolderWriter, options: { dtype?: "f32" | "bf16" | "f16" } = {}): Promise<void> {
    const { format, dtype } = SAVED_FORMATS[options.dtype ?? "f32"];
    await writer.write("config.json", [new TextEncoder().encode(qwen3ConfigJson(this.config, dtype))]);
    const entries = [...this.parameters].map(([name, { shape }]) => ({ name, dtype: format, shape }));
    const data = async (index: number): Promise<Uint8Array> => {
      const { name } = entries[index]!;
      const values = await this.backend.read(this.parameters.get(name)!);
      const limit = format === "F16" ? LARGEST_F16 : Number.MAX_VALUE;
      const bad = values.findIndex((value) => !(Math.abs(value) <= limit));
      if (bad >= 0)
        throw new InputError(`value ${bad} is ${values[bad]} and cannot be saved as ${format}`, {
          file: this.name,
          key: name,
        });
      return encodeFloats(format, values);
    };
    await writer.write("model.safetensors", writeSafetensors(entries, data));
  }

  dispose(): void {
    this.backend.free(...this.parameters.values(), ...this.#gradients.values());
    this.#gradients.clear();
    this.#rope.dispose();
  }

  /** Runs `pass` on every pack and deals the rows out to the sequences. */
  async #eachPack(
    sequences: readonly Sequence[],
    work: ModelWork,
    pass: (pack: Pack, tables: { cos: Tensor; sin: Tensor }) => Promise<Float32Array>,
  ): Promise<Float32Array[]> {
    checkSequences(sequences, this.config, this.name);
    const packs = makePacks(sequences, work.maxTokensPerPack ?? (this.backend.kind === "cpu" ? 1024 : 4096));
    const total = packs.reduce((sum, { tokens }) => sum + tokens, 0);
    const results = sequences.map(() => new Float32Array(0));
    let done = 0;
    for (const pack of packs) {
      work.signal?.throwIfAborted();
      const longest = pack.positions.reduce((max, position) => Math.max(max, position), 0) + 1;
      const logprobs = await pass(pack, this.#rope.tables(longest));
      for (const { index, row, count } of pack.segments) results[index] = logprobs.slice(row, row + count);
      done += pack.tokens;
      work.onProgress?.(done, total);
      await letMessagesIn(this.backend);
    }
    return results;
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
