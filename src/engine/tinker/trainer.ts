import { z } from "zod";
import { DeviceError, InputError } from "../../core/errors.ts";
import { readFolderText } from "../../core/folder-text.ts";
import { parseJsonText } from "../../core/json.ts";
import { responseObjective } from "../../core/objective/index.ts";
import type {
  Calibration,
  EngineInfo,
  FolderReader,
  FolderWriter,
  ItemReport,
  SampleRequest,
  SampleResult,
  ScoreOptions,
  ScoreRequest,
  ScoreResult,
  StepReport,
  StepSettings,
  Trainer,
  TrainItem,
  WorkOptions,
} from "../../core/ports.ts";
import { checkedBy } from "../../core/record/describe-issue.ts";
import { createReferenceBackend, parseModelConfig } from "../../tensor/index.ts";
import { TOLD_ABOVE } from "../remote/calibration.ts";
import { drawnAgain } from "../remote/drawable.ts";
import { inParallel } from "../remote/in-parallel.ts";
import type { Server } from "../remote/index.ts";
import { checkedResult } from "../remote/protocol.ts";
import { Adapter, unpack } from "./adapter.ts";
import { TinkerClient, type TinkerModel } from "./client.ts";
import { datumOf, requestParts, type Sequence } from "./datum.ts";
import { adamOf, gate } from "./gate.ts";
import { divisorOf, MEASURING, type Probed, probe, scoreSequences } from "./probe.ts";

/** Names the server's checkpoint in the folder of one of the run's. */
const STATE_FILE = "tinker.json";
const STATE_FORMAT = "gcopd.tinker.v1";
/** A gradient that is only measured is made so much smaller, exactly: see `MEASURING`. */
const MEASURED = 2 ** -10;
/** Seeds are int32 on some servers. */
const SEEDS = 2 ** 31;
const SAMPLES_AT_ONCE = 64;

const stateSchema = z.strictObject({
  format: z.literal(STATE_FORMAT),
  /** Of the server that keeps it; it may have moved. */
  server: z.string(),
  path: z.string().min(1),
  /** Optimizer steps of the student. */
  steps: z.int().min(0),
  /** Those that the server counts, the measuring ones among them. */
  updates: z.int().min(0),
});

export interface TinkerOptions {
  /** The student as the server names it. */
  baseModel: string;
  /** Of the adapter; 0 trains all weights. */
  rank: number;
  /** Of the adapter's first weights. */
  seed: number;
  /** The server clips gradients and sets Adam's parameters, the learning rate apart, by itself. */
  ownOptimizer: boolean;
  /** Folder of the same model: config.json, and its weights where the trained student is written merged. */
  base: FolderReader;
  /** Write the whole model, the adapter added to its weights. */
  merge: boolean;
  onNote: (note: string) => void;
  /** Some decisions of the run, three steps on which at a learning rate of 0 must change nothing. */
  decisions: readonly Sequence[];
  /** Of the run. */
  settings: StepSettings;
  /** Compares the server's log-probabilities of the untrained model with others; it throws what ends the run. */
  calibrate?: (score: (requests: readonly ScoreRequest[]) => Promise<ScoreResult[]>) => Promise<Calibration>;
}

/**
 * A student that a server with Tinker's API trains. The objective is made here: clipped tokens get no advantage, and the
 * weights w of Eq. (9) and the server's normaliser go into the others', so that the loss `importance_sampling`, which
 * every such server has, gives the gradient of Eq. (9).
 */
export class TinkerTrainer implements Trainer {
  /** The server still clears up models of earlier trainers. */
  static #leaving: Promise<void> = Promise.resolve();
  #sampler: string | null = null;
  /** Gradients were added that no step has used: the server would give them to the next model in this one's place. */
  #added = false;
  /** The server's checkpoint of the present weights. */
  #saved: string | null = null;

  private constructor(
    readonly info: EngineInfo,
    private readonly options: TinkerOptions,
    private readonly model: TinkerModel,
    private readonly probed: Probed,
    private steps: number,
    private updates: number,
  ) {}

  /**
   * Probes the server and makes a model: a new one, or as a checkpoint's folder names it.
   *
   * @throws InputError for what the server refuses, for a server whose gradients are not those of the API, and for one
   * that changes something at a learning rate of 0
   * @throws DeviceError when it does not answer
   */
  static async open(
    server: Server,
    checkpoint: FolderReader | null,
    options: TinkerOptions,
    signal?: AbortSignal,
  ): Promise<TinkerTrainer> {
    const { baseModel, rank, seed, base, ownOptimizer, decisions, settings, onNote } = options;
    const config = parseModelConfig(await readFolderText(base, "config.json"), `${base.name}/config.json`);
    const state = checkpoint === null ? null : await readState(checkpoint);
    await TinkerTrainer.#leaving;
    const client = await TinkerClient.open(server, signal);
    try {
      const probing = await client.createModel(baseModel, rank, seed, signal);
      const calibration =
        (await options.calibrate?.(async (requests) =>
          (
            await scoreSequences(probing, requests, signal)
          ).map((logprobs, n) => ({
            id: requests[n]!.id,
            logprobs,
          })),
        )) ?? null;
      const probed = await probe(probing, config.vocabularySize, ownOptimizer, signal);
      const noise = await gate(probing, probed.normaliser, decisions, settings, signal);
      if (noise > TOLD_ABOVE)
        onNote(
          `gcopd: warning: ${server.base}: scores of the same decisions differ by ${noise.toPrecision(2)} nats`,
        );
      await probing.unload(signal);
      const model = await client.createModel(baseModel, rank, seed, signal);
      model.retries = probed.retries;
      if (state !== null) await loadState(model, state, checkpoint!, signal);
      const { sequences, tokens } = probed.normaliser;
      onNote(
        `The student's server ${server.base} trains ${rank === 0 ? "all weights" : `a LoRA adapter of rank ${rank}`} of ${baseModel}; ` +
          `its gradient is ${sequences ? "a mean" : "the sum"} over sequences and ${tokens ? "a mean" : "the sum"} over their tokens, which is undone; ` +
          `${probed.retries ? "a lost request is sent again" : "it would do a request that is sent again twice: after a lost answer the last checkpoint is loaded"}.`,
      );
      const info: EngineInfo = {
        model: baseModel,
        architecture: config.architecture,
        device: "server",
        adapter: server.base,
        dtype: "the server's own",
        parameters: null,
        vocabulary: config.vocabularySize,
        served: { by: "a server with Tinker's API", sameTokenizer: false, calibration },
      };
      return new TinkerTrainer(info, options, model, probed, state?.steps ?? 0, state?.updates ?? 0);
    } catch (error) {
      client.close();
      throw error;
    }
  }

  async score(
    requests: readonly ScoreRequest[],
    { topK, entropy, distribution, signal, onProgress }: ScoreOptions = {},
  ): Promise<ScoreResult[]> {
    if (topK !== undefined || entropy === true || distribution === true)
      throw new InputError("a server with Tinker's API tells no distributions", { file: this.info.adapter });
    const logprobs = await this.#forward(requests, { signal, onProgress });
    return requests.map(({ id }, n) => ({ id, logprobs: logprobs[n]! }));
  }

  /** Log-probabilities of the responses, some of which may be empty. */
  async #forward(
    sequences: readonly Sequence[],
    { signal, onProgress }: Pick<WorkOptions, "signal" | "onProgress">,
  ): Promise<Float32Array[]> {
    const read = sequences.filter(({ responseIds }) => responseIds.length > 0);
    const total = read.reduce((sum, each) => sum + lengthOf(each), 0);
    const scored = new Map<Sequence, Float32Array>();
    let done = 0;
    for (const part of requestParts(read)) {
      const logprobs = await scoreSequences(this.model, part, signal);
      for (const [n, each] of part.entries()) {
        scored.set(each, logprobs[n]!);
        done += lengthOf(each);
      }
      onProgress?.({ done, total, unit: "tokens" });
    }
    return sequences.map((each) => scored.get(each) ?? new Float32Array(0));
  }

  async sample(requests: readonly SampleRequest[], options: WorkOptions = {}): Promise<SampleResult[]> {
    this.#sampler ??= await this.model.sampler(options.signal);
    const sampler = this.#sampler;
    const results = await inParallel(
      requests,
      // Its API has no masks.
      (request, signal) =>
        drawnAgain(request, this.info.adapter, async (asked) => {
          const drawn = await this.model.sample(sampler, asked.promptIds, samplingParams(asked), signal);
          const { tokens: ids, logprobs = null, stop_reason: stop } = drawn;
          // A server that has none fills them with zeros.
          const told = logprobs?.some((value) => value !== 0) === true;
          const known = told && asked.temperature === 1;
          const result = { ids, logprobs: known ? logprobs : null, stop };
          return checkedResult(asked, result, `${this.info.adapter}: tokens`);
        }),
      {
        atOnce: SAMPLES_AT_ONCE,
        tokensAtOnce: Number.POSITIVE_INFINITY,
        tokensOf: () => 0,
        unit: "responses",
      },
      options,
    );
    // Those at another temperature may be of the changed distribution: p_old is the student's own, at temperature 1.
    const unknown = results.flatMap((result, n) => (result.logprobs.some(Number.isNaN) ? [n] : []));
    const rescored = await this.#forward(
      unknown.map((n) => ({ promptIds: requests[n]!.promptIds, responseIds: results[n]!.responseIds })),
      { signal: options.signal },
    );
    for (const [at, n] of unknown.entries()) results[n] = { ...results[n]!, logprobs: rescored[at]! };
    return results;
  }

  /**
   * One step on Eq. (9). Gradients are clipped to `maxGradNorm` here, unless that is the server's matter: the norm is
   * measured by a step that leaves everything as it is, which costs a second pass.
   */
  async step(
    items: readonly TrainItem[],
    settings: StepSettings,
    { signal, onProgress }: WorkOptions = {},
  ): Promise<StepReport> {
    if (items.some(({ teacherTop, teacherDistribution }) => teacherTop ?? teacherDistribution))
      throw new InputError(
        'a server with Tinker\'s API trains on sampled tokens only: take the signal "sampled-token"',
        {
          file: this.info.adapter,
        },
      );
    const passes = this.options.ownOptimizer ? 2 : 3;
    const part = (pass: number): WorkOptions["onProgress"] =>
      onProgress &&
      (({ done, total, unit }) => onProgress({ done: pass * total + done, total: passes * total, unit }));
    const current = await this.#forward(items, { signal, onProgress: part(0) });
    const reports: ItemReport[] = [];
    let loss = 0;
    const advantages = items.map((item, n) => {
      const { episode, decision, teacherLogprobs, rolloutLogprobs, weight } = item;
      const logprobs = current[n]!;
      const found = responseObjective(
        logprobs,
        teacherLogprobs,
        rolloutLogprobs ?? logprobs,
        weight,
        settings.clip,
        item,
      );
      loss += found.loss;
      reports.push({
        ...{ episode, decision, logprobs, clipped: found.clipped },
        ratio: Float32Array.from(found.ratio),
        advantage: Float32Array.from(found.advantage),
      });
      return found.advantage.map((advantage, token) => (found.clipped[token] === 1 ? 0 : weight * advantage));
    });
    const given = items.flatMap((item, n) =>
      item.responseIds.length === 0
        ? []
        : [{ ...item, logprobs: item.rolloutLogprobs ?? current[n]!, advantages: advantages[n]! }],
    );
    const { beta1, beta2, maxGradNorm } = settings;
    const adam = adamOf(settings);
    let gradNorm: number;
    if (this.options.ownOptimizer) {
      await this.#addGradient(given, 1, { signal, onProgress: part(1) });
      gradNorm = this.#finite(await this.#update(adam, signal));
    } else {
      await this.#addGradient(given, MEASURED, { signal, onProgress: part(1) });
      gradNorm = this.#finite((await this.#update(MEASURING, signal)) / MEASURED);
      const scale = Math.min(1, maxGradNorm / (gradNorm + 1e-6));
      await this.#addGradient(given, scale, { signal, onProgress: part(2) });
      const counted = { betas: [beta1, beta2] as const, server: this.updates + 1, own: this.steps + 1 };
      await this.#update(sameUpdate(adam, counted), signal);
    }
    this.steps += 1;
    const tokens = items.reduce((sum, { responseIds }) => sum + responseIds.length, 0);
    return { step: this.steps, loss: loss === 0 ? 0 : loss, gradNorm, tokens, items: reports };
  }

  /** Adds the gradient of Eq. (9), times `scale`. */
  async #addGradient(
    given: readonly (Sequence & { logprobs: ArrayLike<number>; advantages: Float64Array })[],
    scale: number,
    { signal, onProgress }: WorkOptions,
  ): Promise<void> {
    const { normaliser } = this.probed;
    const total = given.reduce((sum, each) => sum + lengthOf(each), 0);
    let done = 0;
    for (const part of requestParts(given)) {
      this.#added = true;
      const data = part.map((each) => {
        const divisor = divisorOf(normaliser, given.length, each.responseIds.length);
        const advantages = each.advantages.map((advantage) => scale * divisor * advantage);
        if (!advantages.every(Number.isFinite))
          throw new InputError("an advantage is not finite; no update was applied", {
            file: this.info.model,
          });
        return datumOf(each, { logprobs: each.logprobs, advantages });
      });
      await this.model.addGradient(data, signal);
      done += part.reduce((sum, each) => sum + lengthOf(each), 0);
      onProgress?.({ done, total, unit: "tokens" });
    }
  }

  async #update(adam: Parameters<TinkerModel["step"]>[0], signal?: AbortSignal): Promise<number> {
    this.#saved = null;
    this.#sampler = null;
    const norm = await this.model.step(adam, signal);
    this.updates += 1;
    this.#added = false;
    return norm;
  }

  #finite(norm: number): number {
    if (Number.isFinite(norm)) return norm;
    throw new InputError(`the gradient norm is ${norm}`, { file: this.info.adapter });
  }

  /**
   * With the optimizer: keeps the state on the server, and writes where it is. Without: writes the trained weights, as a
   * PEFT adapter or merged, or the model that the server gives where all weights were trained.
   */
  async save(writer: FolderWriter, { optimizer }: { optimizer: boolean }): Promise<void> {
    const { server } = this.model.client;
    if (optimizer) {
      this.#saved ??= await this.model.save(`step-${this.steps}`);
      const { steps, updates } = this;
      const state = { format: STATE_FORMAT, server: server.base, path: this.#saved, steps, updates };
      await writer.write(STATE_FILE, [new TextEncoder().encode(`${JSON.stringify(state, null, 2)}\n`)]);
    } else {
      const path = await this.model.export(`student-${this.steps}`);
      const where = `${server.base}${path}`;
      const files = await unpack(server.download(path), where);
      const { base, merge, rank } = this.options;
      if (rank === 0) for (const [name, bytes] of wholeModel(files, where)) await writer.write(name, [bytes]);
      else if (merge)
        await (await Adapter.of(files, where)).writeMerged(createReferenceBackend(), base, writer);
      else await (await Adapter.of(files, where)).write(writer);
    }
    await writer.commit();
  }

  dispose(): void {
    const { model } = this;
    // A server that is gone is not waited for: it has nothing to clear up.
    model.retries = false;
    model.client.asksAgain = false;
    const leave = async () => {
      if (this.#added) await model.step(MEASURING);
      await model.unload();
    };
    TinkerTrainer.#leaving = leave()
      .catch((error: unknown) => {
        if (!(error instanceof DeviceError || error instanceof InputError)) throw error;
      })
      .finally(() => model.client.close());
  }
}

const lengthOf = ({ promptIds, responseIds }: Sequence): number => promptIds.length + responseIds.length;

const samplingParams = ({ maxTokens, temperature, topP = 1, topK = -1, seed, stopIds }: SampleRequest) => ({
  max_tokens: maxTokens,
  temperature,
  top_p: topP,
  top_k: topK,
  seed: seed % SEEDS,
  stop: stopIds,
});

/**
 * Adam's parameters for a server that has counted more steps than the student took, so that its update is the same: the
 * bias corrections 1 − β^t of both moments are those of `own` in place of `server`.
 */
function sameUpdate(
  { learning_rate, eps, weight_decay, ...rest }: Parameters<TinkerModel["step"]>[0],
  { betas: [beta1, beta2], server, own }: { betas: readonly [number, number]; server: number; own: number },
): Parameters<TinkerModel["step"]>[0] {
  const first = (1 - beta1 ** server) / (1 - beta1 ** own);
  const second = Math.sqrt((1 - beta2 ** server) / (1 - beta2 ** own));
  return {
    ...rest,
    learning_rate: (learning_rate * first) / second,
    eps: eps / second,
    // Decay goes by the learning rate.
    weight_decay: (weight_decay * second) / first,
  };
}

/** The files of a whole model. */
function wholeModel(files: ReadonlyMap<string, Uint8Array>, where: string): ReadonlyMap<string, Uint8Array> {
  if (files.has("config.json") && [...files.keys()].some((name) => name.endsWith(".safetensors")))
    return files;
  throw new InputError(`expected config.json and safetensors, found ${[...files.keys()].join(", ")}`, {
    file: where,
  });
}

/** What the folder of a checkpoint says of the server's; null for one that names none. @throws InputError when it is damaged */
export async function servedCheckpoint(
  checkpoint: FolderReader,
): Promise<Pick<z.infer<typeof stateSchema>, "server" | "path" | "steps"> | null> {
  return (await checkpoint.list()).includes(STATE_FILE) ? readState(checkpoint) : null;
}

async function readState(checkpoint: FolderReader): Promise<z.infer<typeof stateSchema>> {
  const file = `${checkpoint.name}/${STATE_FILE}`;
  return checkedBy(stateSchema, parseJsonText(await readFolderText(checkpoint, STATE_FILE), { file }), {
    file,
  });
}

/** @throws InputError when the server does not have the checkpoint: the run cannot go on there */
async function loadState(
  model: TinkerModel,
  { path, server }: z.infer<typeof stateSchema>,
  checkpoint: FolderReader,
  signal?: AbortSignal,
): Promise<void> {
  try {
    await model.load(path, signal);
  } catch (error) {
    if (!(error instanceof DeviceError) || !/checkpoint/i.test(error.message)) throw error;
    throw new InputError(
      `cannot go on: ${model.client.server.base} does not have ${path}, which ${server} saved (${error.message})`,
      { file: checkpoint.name },
    );
  }
}
