/** Trained weights as they come from a server: a PEFT adapter or a whole model, in a tar.gz. */

import { pipeline } from "node:stream/promises";
import { createGunzip } from "node:zlib";
import { z } from "zod";
import { InputError } from "../../core/errors.ts";
import { parseJsonText } from "../../core/json.ts";
import type { FolderReader, FolderWriter } from "../../core/ports.ts";
import { checkedBy } from "../../core/record/describe-issue.ts";
import { type Backend, Checkpoint, LanguageModel } from "../../tensor/index.ts";

const CONFIG = "adapter_config.json";
const WEIGHTS = "adapter_model.safetensors";
/** What PEFT puts before the names of a model's tensors. */
const PREFIX = "base_model.model.";
const BLOCK = 512;

/** A small folder in memory: an adapter has some megabytes. */
class MemoryFolder implements FolderReader {
  constructor(
    readonly name: string,
    private readonly files: ReadonlyMap<string, Uint8Array>,
  ) {}

  async list(): Promise<string[]> {
    return [...this.files.keys()].sort();
  }
  async size(file: string): Promise<number> {
    return this.files.get(file)!.length;
  }
  async read(file: string, start: number, end: number): Promise<Uint8Array> {
    return this.files.get(file)!.slice(start, end);
  }
}

/**
 * The plain files of a tar.gz, by their names without folders.
 *
 * @param where what it is, for messages
 * @throws InputError when it is none, or is cut off
 */
export async function unpack(
  bytes: AsyncIterable<Uint8Array>,
  where: string,
): Promise<Map<string, Uint8Array>> {
  const parts: Uint8Array[] = [];
  try {
    await pipeline(bytes, createGunzip(), async (unpacked: AsyncIterable<Uint8Array>) => {
      for await (const part of unpacked) parts.push(part);
    });
  } catch (error) {
    if (error instanceof InputError || !(error instanceof Error) || !("code" in error)) throw error;
    throw new InputError(`not a whole tar.gz: ${error.message}`, { file: where });
  }
  const tar = Buffer.concat(parts);
  const files = new Map<string, Uint8Array>();
  for (let at = 0; at + BLOCK <= tar.length && tar[at] !== 0; ) {
    const header = tar.subarray(at, at + BLOCK);
    const field = (from: number, to: number) => header.toString("latin1", from, to).replace(/\0.*$/s, "");
    const size = Number.parseInt(field(124, 136).trim() || "0", 8);
    const end = at + BLOCK + size;
    if (!Number.isSafeInteger(size) || end > tar.length)
      throw new InputError("a damaged tar: a file goes beyond its end", { file: where });
    const name = field(0, 100).split("/").at(-1)!;
    if (["", "0"].includes(field(156, 157)) && name !== "") files.set(name, tar.subarray(at + BLOCK, end));
    at += BLOCK + Math.ceil(size / BLOCK) * BLOCK;
  }
  return files;
}

const configSchema = z.looseObject({
  peft_type: z.literal("LORA"),
  r: z.int().min(1),
  lora_alpha: z.number(),
  target_modules: z.union([z.string(), z.array(z.string())]).nullish(),
  use_rslora: z.literal(false).nullish(),
  use_dora: z.literal(false).nullish(),
  rank_pattern: z.record(z.string(), z.never()).nullish(),
  alpha_pattern: z.record(z.string(), z.never()).nullish(),
});

/** A LoRA adapter: its config, and the two factors of each weight that it changes. */
export class Adapter {
  private constructor(
    private readonly files: ReadonlyMap<string, Uint8Array>,
    private readonly config: z.infer<typeof configSchema>,
    private readonly weights: Checkpoint,
  ) {}

  /** @throws InputError when the files are no LoRA adapter of PEFT */
  static async of(files: ReadonlyMap<string, Uint8Array>, where: string): Promise<Adapter> {
    const text = files.get(CONFIG);
    if (text === undefined || !files.has(WEIGHTS))
      throw new InputError(`expected ${CONFIG} and ${WEIGHTS}, found ${[...files.keys()].join(", ")}`, {
        file: where,
      });
    const file = `${where}/${CONFIG}`;
    const config = checkedBy(configSchema, parseJsonText(Buffer.from(text).toString("utf8"), { file }), {
      file,
    });
    return new Adapter(files, config, await Checkpoint.openFile(new MemoryFolder(where, files), WEIGHTS));
  }

  /** Names of the modules that it changes, such as `model.layers.0.mlp.up_proj`. */
  get modules(): string[] {
    return [...this.weights.tensors.keys()].flatMap((name) => {
      const [, module] = /^base_model\.model\.(.+)\.lora_A\.weight$/.exec(name) ?? [];
      return module === undefined ? [] : [module];
    });
  }

  /**
   * Writes the adapter as PEFT loads it. A config that does not say which modules it is of is completed: PEFT would
   * guess, and leave out the others without an error.
   */
  async write(writer: FolderWriter): Promise<void> {
    const modules = [...new Set(this.modules.map((name) => name.split(".").at(-1)!))].sort();
    const config = { ...this.config, target_modules: this.config.target_modules ?? modules };
    await writer.write(CONFIG, [new TextEncoder().encode(`${JSON.stringify(config, null, 2)}\n`)]);
    await writer.write(WEIGHTS, [this.files.get(WEIGHTS)!]);
  }

  /** The factors of a module: [r, in] and [out, r], row-major. */
  private async factors(module: string): Promise<{ a: Float32Array; b: Float32Array }> {
    const read = async (name: string) => {
      const tensor = `${PREFIX}${module}.${name}.weight`;
      const stored = this.weights.tensors.get(tensor);
      if (stored === undefined) throw new InputError("this tensor is missing", this.weights.where(tensor));
      return this.weights.read(tensor, stored.shape);
    };
    return { a: await read("lora_A"), b: await read("lora_B") };
  }

  /**
   * Adds the adapter to the weights of its base: W + (alpha / r) · B · A.
   *
   * @throws InputError when the base has no such weight, or one of another shape
   */
  async addTo(model: LanguageModel): Promise<void> {
    const { r, lora_alpha: alpha } = this.config;
    for (const module of this.modules) {
      const name = `${module}.weight`;
      const weight = model.parameters.get(name);
      const where = { file: model.name, key: name };
      if (weight === undefined)
        throw new InputError("missing, or tied to another: the adapter changes it", where);
      const { a, b } = await this.factors(module);
      const [outs = 0, ins = 0] = weight.shape;
      if (a.length !== r * ins || b.length !== outs * r)
        throw new InputError(`[${outs}, ${ins}] does not fit the adapter's rank and factors`, where);
      const values = await model.backend.read(weight);
      for (let out = 0; out < outs; out += 1)
        for (let k = 0; k < r; k += 1) {
          const factor = (alpha / r) * b[out * r + k]!;
          for (let n = 0; n < ins; n += 1) values[out * ins + n]! += factor * a[k * ins + n]!;
        }
      model.backend.write(weight, values);
    }
  }

  /** Writes the base with the adapter added to its weights, in f32. The base is in memory whole meanwhile. */
  async writeMerged(backend: Backend, base: FolderReader, writer: FolderWriter): Promise<void> {
    const model = await LanguageModel.load(backend, base);
    try {
      await this.addTo(model);
      await model.save(writer);
    } finally {
      model.dispose();
    }
  }
}
