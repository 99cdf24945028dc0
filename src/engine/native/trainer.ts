import { InputError } from "../../core/errors.ts";
import { policyRatio, responseDivergence, responseObjective } from "../../core/objective/index.ts";
import type {
  FolderReader,
  FolderWriter,
  ItemReport,
  StepReport,
  StepSettings,
  Trainer,
  TrainItem,
  WorkOptions,
} from "../../core/ports.ts";
import {
  AdamW,
  type Backend,
  LanguageModel,
  type ModelWork,
  optimizerSteps,
  type TeacherTarget,
  type Tensor,
} from "../../tensor/index.ts";
import { ModelScorer, modelWork, type PassOptions, withinPlan } from "./scorer.ts";

const OPTIMIZER_FILE = "optimizer.safetensors";

export interface OpenTrainerOptions extends WorkOptions, PassOptions {
  /**
   * What happens to optimizer state in the folder: `continue` takes it over where there is one, `require` refuses a
   * folder without it (a checkpoint must have it), `ignore` starts from zero. `later` is `continue` when
   * `continueOptimizer` is called: until then only the weights are read, and the student scores in a third of the memory.
   */
  optimizer: "continue" | "require" | "ignore" | "later";
}

/** The part of a step's report that is known before the update. */
export type GradientReport = Pick<StepReport, "loss" | "tokens" | "items">;

/** The student on a backend: f32 master weights and AdamW. The backend stays its opener's. */
export class ModelTrainer extends ModelScorer implements Trainer {
  #optimizer: AdamW | null = null;
  /** Optimizer steps that were taken before, and the folder that has their state; null where there were none. */
  #before: { steps: number; folder: FolderReader } | null = null;

  /** Loads a Hugging Face folder, with the optimizer state beside the weights. Every fault of it is an InputError. */
  static override async open(
    backend: Backend,
    folder: FolderReader,
    options: OpenTrainerOptions = { optimizer: "continue" },
  ): Promise<ModelTrainer> {
    return withinPlan(backend, options, async () => {
      const model = await LanguageModel.load(backend, folder, modelWork(options, "bytes"));
      const trainer = new ModelTrainer(model, options);
      try {
        const { optimizer } = options;
        const there = (await folder.list()).includes(OPTIMIZER_FILE);
        if (optimizer === "require" || (optimizer !== "ignore" && there))
          trainer.#before = { steps: await optimizerSteps(folder), folder };
        if (optimizer !== "later") await trainer.continueOptimizer();
        await backend.sync();
        return trainer;
      } catch (error) {
        trainer.dispose();
        throw error;
      }
    });
  }

  /** The weights, in a fixed order. */
  get parameters(): readonly Tensor[] {
    return [...this.model.parameters.values()];
  }

  /** Optimizer steps taken, those of a continued folder included. */
  get steps(): number {
    return this.#optimizer?.steps ?? this.#before?.steps ?? 0;
  }

  /** Whether the optimizer's moments are on the device. */
  get hasMoments(): boolean {
    return this.#optimizer !== null;
  }

  /**
   * Reads the optimizer state that `later` left in the folder; does nothing if that has been done. The first update calls
   * this too, but then memory for the moments is allocated in the middle of a step.
   *
   * @throws InputError where the folder does not have it as it was saved
   */
  async continueOptimizer(): Promise<AdamW> {
    if (this.#optimizer !== null) return this.#optimizer;
    const optimizer = new AdamW(this.model);
    try {
      if (this.#before !== null) await optimizer.load(this.#before.folder);
      await this.model.backend.sync();
    } catch (error) {
      optimizer.dispose();
      throw error;
    }
    this.#before = null;
    this.#optimizer = optimizer;
    return optimizer;
  }

  /**
   * One step on Eq. (9), or on the items' divergence: forward and backward over all items, then AdamW. Nothing changes when it is aborted or throws
   * before the update.
   */
  async step(
    items: readonly TrainItem[],
    settings: StepSettings,
    options: WorkOptions = {},
  ): Promise<StepReport> {
    const part = await this.backward(items, settings, options);
    options.signal?.throwIfAborted();
    return { ...part, ...(await this.update(settings)) };
  }

  /**
   * The gradient of the items' loss, in place of any before, and what their tokens looked like. `onGradients` gets each
   * part of it as soon as it is whole (`ModelWork`): it may be summed over devices before `update`.
   */
  async backward(
    items: readonly TrainItem[],
    settings: Pick<StepSettings, "clip">,
    options: WorkOptions & Pick<ModelWork, "onGradients"> = {},
  ): Promise<GradientReport> {
    const targets = this.#targets(items);
    // The update makes it stale, and the pass needs its memory.
    this.model.releaseDecoding();
    this.model.zeroGradients();
    const { packTokens: maxTokensPerPack, recompute } = this.passes;
    const work: ModelWork = {
      ...modelWork(options, "tokens"),
      ...{ maxTokensPerPack, recompute, onGradients: options.onGradients },
    };
    const parts = await withinPlan(this.model.backend, this.passes, () =>
      targets === null ? this.#surrogate(items, settings, work) : this.#divergence(items, targets, work),
    );
    return {
      loss: parts.reduce((sum, { loss }) => sum + loss, 0),
      tokens: parts.reduce((sum, { report }) => sum + report.logprobs.length, 0),
      items: parts.map(({ report }) => report),
    };
  }

  /** Eq. (9). */
  async #surrogate(
    items: readonly TrainItem[],
    { clip }: Pick<StepSettings, "clip">,
    work: ModelWork,
  ): Promise<ItemPart[]> {
    const parts = items.map(nothingOf);
    await this.model.backward(
      items,
      (n, logprobs) => {
        const item = items[n]!;
        const { episode, decision, teacherLogprobs, rolloutLogprobs, weight } = item;
        const rollout = rolloutLogprobs ?? logprobs;
        const part = responseObjective(logprobs, teacherLogprobs, rollout, weight, clip, item);
        const report = {
          ...{ episode, decision, logprobs, clipped: part.clipped },
          ratio: Float32Array.from(part.ratio),
          advantage: Float32Array.from(part.advantage),
        };
        parts[n] = { loss: part.loss, report };
        return Float32Array.from(part.coefficients);
      },
      work,
    );
    return parts;
  }

  /** Σ w·KL_t of distributions: neither ratio nor clip takes part, and the report's ratio is told all the same. */
  async #divergence(
    items: readonly TrainItem[],
    targets: readonly TeacherTarget[],
    work: ModelWork,
  ): Promise<ItemPart[]> {
    const found = await this.model.backwardDivergence(items, targets, work);
    return items.map(({ episode, decision, rolloutLogprobs, weight, masked }, n) => {
      const { logprobs, kl } = found[n]!;
      const { loss, advantage } = responseDivergence(kl, weight, masked);
      const ratio = logprobs.map((logprob, i) => policyRatio(logprob, rolloutLogprobs?.[i] ?? logprob));
      const clipped = new Uint8Array(kl.length);
      const report = {
        ...{ episode, decision, logprobs, ratio, clipped },
        advantage: Float32Array.from(advantage),
      };
      return { loss, report };
    });
  }

  /** What the items' tokens are compared with; null under Eq. (9). @throws InputError for items of several kinds */
  #targets(items: readonly TrainItem[]): TeacherTarget[] | null {
    const targets = items.flatMap(({ responseIds, teacherTop, teacherDistribution, weight, masked }) => {
      const told = teacherTop ?? (teacherDistribution && { logprobs: teacherDistribution });
      if (told === undefined) return [];
      return [
        { ...told, weights: Float32Array.from(responseIds, (_, i) => (masked?.[i] === 1 ? 0 : weight)) },
      ];
    });
    if (targets.length === 0) return null;
    if (targets.length < items.length)
      throw new InputError("not all items of the step have what the same signal compares", {
        file: this.info.model,
      });
    return targets;
  }

  /** AdamW on the gradient that `backward` left. */
  async update(settings: StepSettings): Promise<Pick<StepReport, "step" | "gradNorm">> {
    const optimizer = await this.continueOptimizer();
    const { gradNorm } = await withinPlan(this.model.backend, this.passes, () => optimizer.step(settings));
    return { step: this.steps, gradNorm };
  }

  /** Writes config.json and model.safetensors in f32, and optimizer.safetensors if asked; then commits. */
  async save(writer: FolderWriter, options: { optimizer: boolean }): Promise<void> {
    await this.model.save(writer);
    if (options.optimizer) await (await this.continueOptimizer()).save(writer);
    await writer.commit();
  }

  override dispose(): void {
    this.#optimizer?.dispose();
    super.dispose();
  }
}

/** An item's part of the loss, and its report. */
interface ItemPart {
  loss: number;
  report: ItemReport;
}

/** A response of no token: nothing was computed for it. */
function nothingOf({ episode, decision }: TrainItem): ItemPart {
  const none = () => new Float32Array(0);
  const report = { logprobs: none(), ratio: none(), advantage: none(), clipped: new Uint8Array(0) };
  return { loss: 0, report: { episode, decision, ...report } };
}
