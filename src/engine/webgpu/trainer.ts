import { responseObjective } from "../../core/objective/index.ts";
import type {
  FolderReader,
  FolderWriter,
  ItemReport,
  SampleRequest,
  SampleResult,
  StepReport,
  StepSettings,
  Trainer,
  TrainItem,
  WorkOptions,
} from "../../core/ports.ts";
import { uniforms } from "../../core/seeded.ts";
import { AdamW, type Backend, Qwen3Model } from "../../tensor/index.ts";
import { ModelScorer, modelWork } from "./scorer.ts";

const OPTIMIZER_FILE = "optimizer.safetensors";

export interface OpenTrainerOptions extends WorkOptions {
  /**
   * What happens to optimizer state in the folder: `continue` takes it over where there is one, `require` refuses a
   * folder without it (a checkpoint must have it), `ignore` starts anew.
   */
  optimizer: "continue" | "require" | "ignore";
}

/** The student on a backend: f32 master weights and AdamW. The backend stays its opener's. */
export class ModelTrainer extends ModelScorer implements Trainer {
  #optimizer: AdamW;

  constructor(model: Qwen3Model) {
    super(model);
    this.#optimizer = new AdamW(model);
  }

  /** Loads a Hugging Face folder, with the optimizer state beside the weights. Every fault of it is an InputError. */
  static override async open(
    backend: Backend,
    folder: FolderReader,
    options: OpenTrainerOptions = { optimizer: "continue" },
  ): Promise<ModelTrainer> {
    const trainer = new ModelTrainer(
      await Qwen3Model.load(backend, folder, modelWork(options, "parameters")),
    );
    try {
      const { optimizer } = options;
      const there = (await folder.list()).includes(OPTIMIZER_FILE);
      if (optimizer === "require" || (optimizer === "continue" && there))
        await trainer.#optimizer.load(folder);
      return trainer;
    } catch (error) {
      trainer.dispose();
      throw error;
    }
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
    const reports: ItemReport[] = [];
    let loss = 0;
    let tokens = 0;
    this.model.zeroGradients();
    await this.model.backward(
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
      modelWork(options, "tokens"),
    );
    options.signal?.throwIfAborted();
    const { gradNorm } = await this.#optimizer.step(settings);
    return {
      step: this.steps,
      loss,
      gradNorm,
      tokens,
      items: items.map((item, n) => reports[n] ?? empty(item)),
    };
  }

  async sample(requests: readonly SampleRequest[], options: WorkOptions = {}): Promise<SampleResult[]> {
    const results: SampleResult[] = [];
    for (const { id, promptIds, maxTokens, temperature, seed, stopIds } of requests) {
      const { ids, logprobs, stopped } = await this.model.generate(promptIds, {
        maxTokens,
        temperature,
        uniform: uniforms(seed),
        stopIds,
        signal: options.signal,
      });
      results.push({ id, responseIds: ids, logprobs, stop: stopped ? "stop" : "length" });
      options.onProgress?.({ done: results.length, total: requests.length, unit: "responses" });
    }
    return results;
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
