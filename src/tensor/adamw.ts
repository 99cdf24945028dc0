import { InputError } from "../core/errors.ts";
import type { FolderReader, FolderWriter, StepSettings } from "../core/ports.ts";
import { Checkpoint } from "./checkpoint.ts";
import type { LanguageModel } from "./language-model.ts";
import { WeightLoader } from "./load-weights.ts";
import { readSafetensorsHeader, writeSafetensors } from "./safetensors.ts";
import { storedPieces } from "./stored-pieces.ts";
import type { Tensor } from "./tensor.ts";

const FILE = "optimizer.safetensors";

/**
 * Optimizer steps that the state in a model folder stands after.
 *
 * @throws InputError when the folder has no `optimizer.safetensors`, or that file does not say it
 */
export async function optimizerSteps(folder: FolderReader): Promise<number> {
  const file = `${folder.name}/${FILE}`;
  if (!(await folder.list()).includes(FILE)) throw new InputError("this file is missing", { file });
  const { metadata } = await readSafetensorsHeader(folder, FILE);
  const steps = Number(metadata["steps"]);
  if (!Number.isSafeInteger(steps) || steps < 0)
    throw new InputError("expected the number of steps taken", { file, key: "__metadata__.steps" });
  return steps;
}

/** What a step needs beside gradients; clipping the surrogate is the loss's matter. */
export type AdamWSettings = Omit<StepSettings, "clip">;

/** AdamW with decoupled decay as torch writes it, over all parameters of a model, after global-norm clipping. */
export class AdamW {
  /** Steps taken so far. */
  steps = 0;
  readonly #moments = new Map<string, { m: Tensor; v: Tensor }>();

  constructor(private readonly model: LanguageModel) {
    const { backend } = model;
    for (const [name, { shape }] of model.parameters)
      this.#moments.set(name, { m: backend.zeros(shape), v: backend.zeros(shape) });
  }

  /**
   * Updates the parameters by the model's gradients. `gradNorm` is the global L2 norm before clipping; when it is not
   * finite, nothing is changed and an InputError is thrown.
   */
  async step(settings: AdamWSettings): Promise<{ gradNorm: number }> {
    const { backend, parameters, gradients } = this.model;
    if (gradients.size === 0) throw new Error("AdamW.step: no gradients; call backward first");
    const gradNorm = Math.sqrt(await this.#squares());
    if (!Number.isFinite(gradNorm))
      throw new InputError(`the gradient norm is ${gradNorm}; no update was applied`, {
        file: this.model.name,
      });
    const step = this.steps + 1;
    const { learningRate, beta1, beta2, adamEpsilon: epsilon, weightDecay, maxGradNorm } = settings;
    const gradScale = Math.min(1, maxGradNorm / (gradNorm + 1e-6));
    this.model.forgetPrefixes();
    const tensors = [...parameters].map(([name, p]) => ({
      ...{ p, g: gradients.get(name)! },
      ...this.#moments.get(name)!,
    }));
    backend.adamw(tensors, { learningRate, beta1, beta2, epsilon, weightDecay, step, gradScale });
    await backend.sync();
    this.steps = step;
    return { gradNorm };
  }

  /** Σ of squares over all gradients. */
  async #squares(): Promise<number> {
    const { backend, gradients } = this.model;
    // In a scope: on a device that fails in between, nothing stays.
    const squares = backend.scope((keep) => keep(backend.sumSquares([...gradients.values()])));
    try {
      return (await backend.read(squares))[0]!;
    } finally {
      backend.free(squares);
    }
  }

  /** Writes optimizer.safetensors (moments in f32 as `m/<parameter>` and `v/<parameter>`). The caller commits. */
  async save(writer: FolderWriter): Promise<void> {
    const tensors = [...this.#moments].flatMap(([name, { m, v }]) => [
      { name: `m/${name}`, dtype: "F32", shape: m.shape, tensor: m },
      { name: `v/${name}`, dtype: "F32", shape: v.shape, tensor: v },
    ]);
    const data = (index: number) => storedPieces(this.model.backend, tensors[index]!.tensor, "F32");
    await writer.write(FILE, writeSafetensors(tensors, data, { steps: String(this.steps) }));
  }

  /**
   * Takes over what `save` wrote, piece by piece: the next step is the one that would have followed.
   * After an InputError the optimizer is as new.
   */
  async load(folder: FolderReader): Promise<void> {
    const steps = await optimizerSteps(folder);
    const file = `${folder.name}/${FILE}`;
    const stored = await Checkpoint.openFile(folder, FILE);
    const expected = new Set([...this.#moments.keys()].flatMap((name) => [`m/${name}`, `v/${name}`]));
    for (const name of stored.tensors.keys())
      if (!expected.has(name)) throw new InputError("the model has no such parameter", { file, key: name });
    const { backend } = this.model;
    const loader = new WeightLoader(backend, stored);
    try {
      await loader.fill(
        [...this.#moments].flatMap(([name, { m, v }]): [Tensor, string][] => [
          [m, `m/${name}`],
          [v, `v/${name}`],
        ]),
      );
      this.steps = steps;
    } catch (error) {
      for (const { m, v } of this.#moments.values()) for (const moment of [m, v]) backend.fill(moment, 0);
      this.steps = 0;
      throw error;
    }
  }

  dispose(): void {
    for (const { m, v } of this.#moments.values()) this.model.backend.free(m, v);
    this.#moments.clear();
  }
}
