import { DeviceError } from "../../core/errors.ts";
import type {
  EngineInfo,
  FolderReader,
  SampleRequest,
  SampleResult,
  Sampler,
  ScoreOptions,
  ScoreRequest,
  ScoreResult,
  Scorer,
  WorkOptions,
} from "../../core/ports.ts";
import { uniforms } from "../../core/seeded.ts";
import {
  type Backend,
  describePlan,
  LanguageModel,
  type ModelWork,
  type WeightChoice,
} from "../../tensor/index.ts";
import { type PlannedPasses, PREFIX_BYTES } from "./plan.ts";

/** The ports' way to follow and stop work, as the model takes it. */
export function modelWork(options: WorkOptions, unit: string): ModelWork {
  const { signal, onProgress, onComputed } = options;
  return {
    signal,
    onComputed,
    onProgress: onProgress && ((done, total) => onProgress({ done, total, unit })),
  };
}

/** `f32`, or how weights are kept and what products are computed in: `int4 and int8 weights, f16 products`. */
function numberFormat({ backend, formats }: LanguageModel): string {
  const compute = backend.compute;
  if (formats.every((format) => format === compute)) return compute;
  return `${formats.join(" and ")} weights, ${compute} products`;
}

/** Passes as they were planned; the backend's own, and no plan to tell, when absent. */
export type PassOptions = Partial<PlannedPasses>;

/**
 * Runs `work`; where the device has no memory left, the error has the plan's numbers beside what was allocated.
 *
 * @throws an error of the device, too, that other work found meanwhile: it may be of this one
 */
export async function withinPlan<R>(
  backend: Backend,
  { plan }: PassOptions,
  work: () => Promise<R>,
): Promise<R> {
  const before = backend.lastFault;
  try {
    const result = await work();
    const { lastFault } = backend;
    if (lastFault !== undefined && lastFault !== before) throw lastFault;
    return result;
  } catch (error) {
    if (plan === undefined || !(error instanceof DeviceError) || error.fault !== "memory") throw error;
    throw new DeviceError(`${error.message}; planned: ${describePlan(plan)}`, error.fault);
  }
}

/** A frozen model on a backend, which can also be sampled. The backend stays its opener's: several models may share one. */
export class ModelScorer implements Scorer, Sampler {
  readonly info: EngineInfo;

  constructor(
    protected readonly model: LanguageModel,
    protected passes: PassOptions = {},
  ) {
    // What decisions have in common is kept from call to call; a trainer's optimizer drops it with each update.
    this.takePasses(passes);
    const { backend, config, name, parameterCount } = model;
    this.info = {
      model: name,
      architecture: config.architecture,
      device: backend.kind,
      adapter: backend.description,
      dtype: numberFormat(model),
      parameters: parameterCount,
      vocabulary: config.vocabularySize,
    };
  }

  /** Longest sequence that the model takes, prompt and response together, in tokens. */
  get maxPositions(): number {
    return this.model.config.maxPositions;
  }

  /**
   * Loads a Hugging Face folder, its matrices kept in the format `weights` (default f32). Every fault of it is an
   * InputError that names file and key.
   */
  static async open(
    backend: Backend,
    folder: FolderReader,
    options: WorkOptions & PassOptions & { weights?: WeightChoice } = {},
  ): Promise<ModelScorer> {
    const { weights } = options;
    const load = () => LanguageModel.load(backend, folder, { ...modelWork(options, "bytes"), weights });
    return new ModelScorer(await withinPlan(backend, options, load), options);
  }

  /** @param options `hidden`: what `headLogprobs` needs to tell any token in a place */
  async score(
    requests: readonly ScoreRequest[],
    options: ScoreOptions & { hidden?: boolean } = {},
  ): Promise<(ScoreResult & { hidden?: Float32Array })[]> {
    const work = { ...modelWork(options, "tokens"), maxTokensPerPack: this.passes.packTokens };
    const scores = await this.#pass(() => this.model.scoreDistributions(requests, options, work));
    return requests.map(({ id }, n) => ({ id, ...scores[n]! }));
  }

  /** [ids] log-probabilities of single tokens, each under a row of `hidden` [ids · hidden size]: no pass is made. */
  headLogprobs(
    hidden: Float32Array,
    ids: readonly number[],
    options: WorkOptions = {},
  ): Promise<Float32Array> {
    return this.#pass(() => this.model.headLogprobs(hidden, ids, options));
  }

  /** After an error of the device nothing that a pass left to be used again can be trusted. */
  async #pass<R>(work: () => Promise<R>): Promise<R> {
    try {
      return await withinPlan(this.model.backend, this.passes, work);
    } catch (error) {
      if (error instanceof DeviceError && error.fault !== "lost") this.forget();
      throw error;
    }
  }

  async sample(requests: readonly SampleRequest[], options: WorkOptions = {}): Promise<SampleResult[]> {
    const responses = await this.#pass(() =>
      this.model.generateAll(
        requests.map(({ seed, id: _, ...request }) => ({ ...request, uniform: uniforms(seed) })),
        {
          signal: options.signal,
          onProgress: (done) => options.onProgress?.({ done, total: requests.length, unit: "responses" }),
        },
      ),
    );
    return responses.map(({ ids, logprobs, stopped }, n) => ({
      id: requests[n]!.id,
      responseIds: ids,
      logprobs,
      stop: stopped ? "stop" : "length",
    }));
  }

  forget(): void {
    this.model.forgetPrefixes();
    this.model.releaseDecoding();
  }

  /** Passes of a new plan, from the next call on. */
  takePasses(passes: PassOptions): void {
    this.passes = passes;
    this.model.keepPrefixes(passes.prefixBytes ?? this.model.backend.packTokens * PREFIX_BYTES);
  }

  dispose(): void {
    this.model.dispose();
  }
}
