import { responseObjective } from "../../core/objective/index.ts";
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
import { AdamW, type Backend, LanguageModel, type ModelWork, type Tensor } from "../../tensor/index.ts";
import { ModelScorer, modelWork, type PassOptions, withinPlan } from "./scorer.ts";

const OPTIMIZER_FILE = "optimizer.safetensors";

export interface OpenTrainerOptions extends WorkOptions, PassOptions {
  /**
   * What happens to optimizer state in the folder: `continue` takes it over where there is one, `require` refuses a
   * folder without it (a checkpoint must have it), `ignore` starts from zero.
   */
  optimizer: "continue" | "require" | "ignore";
}

/** The part of a step's report that is known before the update. */
export type GradientReport = Pick<StepReport, "loss" | "tokens" | "items">;

/** The student on a backend: f32 master weights and AdamW. The backend stays its opener's. */
export class ModelTrainer extends ModelScorer implements Trainer {
  #optimizer: AdamW;

  constructor(model: LanguageModel, passes: PassOptions = {}) {
    super(model, passes);
    this.#optimizer = new AdamW(model);
  }

  /** Loads a Hugging Face folder, with the optimizer state beside the weights. Every fault of it is an InputError. */
  static override async open(
    backend: Backend,
    folder: FolderReader,
    options: OpenTrainerOptions = { optimizer: "continue" },
  ): Promise<ModelTrainer> {
    return withinPlan(options, async () => {
      const model = await LanguageModel.load(backend, folder, modelWork(options, "bytes"));
      const trainer = new ModelTrainer(model, options);
      try {
        const { optimizer } = options;
        const there = (await folder.list()).includes(OPTIMIZER_FILE);
        if (optimizer === "require" || (optimizer === "continue" && there))
          await trainer.#optimizer.load(folder);
        // Memory for the moments is asked for here, not in the middle of the first step.
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
    return this.#optimizer.steps;
  }

  /**
   * One step on Eq. (9): forward and backward over all items, then AdamW. Nothing changes when it is aborted or throws
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
   * The gradient of Eq. (9) over these items, in place of any before, and what their tokens looked like. `onGradients`
   * gets each part of it as soon as it is whole (`ModelWork`): it may be summed over devices before `update`.
   */
  async backward(
    items: readonly TrainItem[],
    settings: Pick<StepSettings, "clip">,
    options: WorkOptions & Pick<ModelWork, "onGradients"> = {},
  ): Promise<GradientReport> {
    const reports: ItemReport[] = [];
    let loss = 0;
    let tokens = 0;
    // The update makes it stale, and the pass needs its memory.
    this.model.releaseDecoding();
    this.model.zeroGradients();
    const { packTokens: maxTokensPerPack, recompute } = this.passes;
    await withinPlan(this.passes, () =>
      this.model.backward(
        items,
        (n, logprobs) => {
          const item = items[n]!;
          const { teacherLogprobs, rolloutLogprobs, weight } = item;
          const part = responseObjective(
            logprobs,
            teacherLogprobs,
            rolloutLogprobs ?? logprobs,
            weight,
            settings.clip,
            item,
          );
          loss += part.loss;
          tokens += logprobs.length;
          reports[n] = {
            episode: item.episode,
            decision: item.decision,
            logprobs,
            ratio: Float32Array.from(part.ratio),
            advantage: Float32Array.from(part.advantage),
            clipped: part.clipped,
          };
          return Float32Array.from(part.coefficients);
        },
        {
          ...modelWork(options, "tokens"),
          ...{ maxTokensPerPack, recompute, onGradients: options.onGradients },
        },
      ),
    );
    return { loss, tokens, items: items.map((item, n) => reports[n] ?? empty(item)) };
  }

  /** AdamW on the gradient that `backward` left. */
  async update(settings: StepSettings): Promise<Pick<StepReport, "step" | "gradNorm">> {
    const { gradNorm } = await withinPlan(this.passes, () => this.#optimizer.step(settings));
    return { step: this.steps, gradNorm };
  }

  /** Writes config.json and model.safetensors in f32, and optimizer.safetensors if asked; then commits. */
  async save(writer: FolderWriter, options: { optimizer: boolean }): Promise<void> {
    await this.model.save(writer);
    if (options.optimizer) await this.#optimizer.save(writer);
    await writer.commit();
  }

  override dispose(): void {
    this.#optimizer.dispose();
    super.dispose();
  }
}

/** A response of no token: nothing was computed for it. */
function empty({ episode, decision }: TrainItem): ItemReport {
  const none = () => new Float32Array(0);
  return {
    episode,
    decision,
    logprobs: none(),
    ratio: none(),
    advantage: none(),
    clipped: new Uint8Array(0),
  };
}
