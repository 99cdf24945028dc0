import type {
  EngineInfo,
  FolderReader,
  ScoreRequest,
  ScoreResult,
  Scorer,
  WorkOptions,
} from "../../core/ports.ts";
import { type Backend, type ModelWork, Qwen3Model } from "../../tensor/index.ts";

/** The ports' way to follow and stop work, as the model takes it. */
export function modelWork(options: WorkOptions, unit: string): ModelWork {
  const { signal, onProgress } = options;
  return { signal, onProgress: onProgress && ((done, total) => onProgress({ done, total, unit })) };
}

/** A frozen model on a backend. The backend stays its opener's: several models may share one. */
export class ModelScorer implements Scorer {
  readonly info: EngineInfo;

  constructor(protected readonly model: Qwen3Model) {
    const { backend, config, name, parameterCount } = model;
    this.info = {
      model: name,
      device: backend.kind,
      adapter: backend.description,
      dtype: "f32",
      parameters: parameterCount,
      vocabulary: config.vocabularySize,
    };
  }

  /** Longest sequence that the model takes, prompt and response together, in tokens. */
  get maxPositions(): number {
    return this.model.config.maxPositions;
  }

  /** Loads a Hugging Face folder. Every fault of it is an InputError that names file and key. */
  static async open(backend: Backend, folder: FolderReader, options: WorkOptions = {}): Promise<ModelScorer> {
    return new ModelScorer(await Qwen3Model.load(backend, folder, modelWork(options, "parameters")));
  }

  async score(requests: readonly ScoreRequest[], options: WorkOptions = {}): Promise<ScoreResult[]> {
    const logprobs = await this.model.score(requests, modelWork(options, "tokens"));
    return requests.map(({ id }, n) => ({ id, logprobs: logprobs[n]! }));
  }

  dispose(): void {
    this.model.dispose();
  }
}
