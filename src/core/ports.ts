/**
 * What the training loop needs from the world, and nothing about how it is done: an `Environment` to act in, a
 * `Sampler` that draws responses from the student, a frozen `Scorer` (the teacher) and a `Trainer` (the student).
 * Engines under `src/engine/` implement the last three; `src/simulator/` and recorded episodes implement the first.
 */
import type { State, Status } from "./record/schema.ts";

/** One message of a conversation with a model. */
export interface ChatTurn {
  role: "user" | "assistant";
  content: string;
}

/** Token ids of one context and of the response that follows it. */
export interface ScoreRequest {
  id: string;
  promptIds: readonly number[];
  responseIds: readonly number[];
}

/** Natural-log probabilities of each response token given everything before it, at temperature 1. */
export interface ScoreResult {
  id: string;
  /** [response tokens] f32 */
  logprobs: Float32Array;
  /** [response tokens] in nats, of the distribution that each token was drawn from; where it was asked for. */
  entropy?: Float32Array;
  /** [response tokens · topK] ids of the most probable tokens in each place, the most probable first; where asked for. */
  topIds?: Uint32Array;
  /** Their log-probabilities. */
  topLogprobs?: Float32Array;
  /** [response tokens · vocabulary] of every token in each place; where asked for. */
  distribution?: Float32Array;
}

/** Work that can take long: it reports how far it is and stops when asked. */
export interface WorkOptions {
  signal?: AbortSignal;
  onProgress?: (progress: { done: number; total: number; unit: string }) => void;
  /** Tokens given so far and those computed for them, which are fewer where sequences share their first tokens. */
  onComputed?: (tokens: { given: number; computed: number }) => void;
}

/** What to return for every response token beside its log-probability; a scorer that cannot refuses. */
export interface ScoreOptions extends WorkOptions {
  /** Most probable tokens in its place, from 1 to 64. */
  topK?: number;
  entropy?: boolean;
  /** Log-probabilities of the whole vocabulary; refused where they take more than `MOST_DISTRIBUTION_BYTES`. */
  distribution?: boolean;
}

/** How far the log-probabilities of another program lie from those of our own engine over the same weights. */
export interface Calibration {
  /** What it was compared with: a model and what that computed on. */
  against: string;
  decisions: number;
  /** Response tokens. */
  tokens: number;
  /** Largest and mean absolute difference of a token, in nats. */
  largest: number;
  mean: number;
}

/** What was computed on: shown beside every figure that a user sees. */
export interface EngineInfo {
  /** Folder or name of the model. */
  model: string;
  /** `qwen3`, `qwen3_5`, …; absent where the files do not say it (exports to ONNX). */
  architecture?: string;
  /** `webgpu`, `cpu` (the plain TypeScript reference), or `server`: another program. */
  device: "webgpu" | "cpu" | "server";
  /** Adapter as reported, for example `google swiftshader`; the program and its address. */
  adapter: string;
  /** Number format of weights and arithmetic: `f32`, or `bf16 weights, f32 products`. */
  dtype: string;
  /** Null where the files (exports to ONNX) or the server do not say it. */
  parameters: number | null;
  vocabulary: number;
  /** For a model that another program serves. */
  served?: {
    /** The program: `vLLM 0.32.0`. */
    by: string;
    /** Its tokenizer produced the same ids as ours; false where it does not return ids. */
    sameTokenizer: boolean;
    /** Null where there were no weights of it to compare with. */
    calibration: Calibration | null;
  };
}

/** A frozen model that gives log-probabilities: q_T of Eq. (1) and Eq. (8). */
export interface Scorer {
  readonly info: EngineInfo;
  score(requests: readonly ScoreRequest[], options?: ScoreOptions): Promise<ScoreResult[]>;
  /**
   * Gives up what was kept of earlier prompts. A device may round differently when it finds such a part: after this, the
   * same calls give the same numbers, whatever was scored or sampled before.
   */
  forget?(): void;
  dispose(): void;
}

/** Token ids from `from` up to, but not including, `to`. */
export type IdRange = readonly [from: number, to: number];

/** How one response is drawn. */
export interface SampleRequest {
  id: string;
  promptIds: readonly number[];
  /** The chat that the prompt's ids were written from; absent where its beginning was cut. For servers with a chat template of their own. */
  messages?: readonly ChatTurn[];
  maxTokens: number;
  /** 0 takes the most probable token. */
  temperature: number;
  /** Only so many of the most probable tokens may be drawn, and their equals; all when absent. */
  topK?: number;
  /**
   * Only the fewest most probable tokens (of `topK`) whose probabilities at `temperature` come to this much, and their
   * equals; all when absent.
   */
  topP?: number;
  /** Seed of the uniform numbers; the same seed on the same device gives the same response. */
  seed: number;
  /** Ids that end the response (kept as its last token). */
  stopIds: readonly number[];
  /**
   * The only ids that may be drawn, as ascending ranges: those with a token. A model often has more vocabulary rows than
   * its tokenizer has tokens.
   */
  drawable: readonly IdRange[];
}

export interface SampleResult {
  id: string;
  responseIds: number[];
  /**
   * log p_old of each response token, at temperature 1 over the whole vocabulary, as the scorer and the trainer count it:
   * `drawable` decides what is drawn, not its probability. NaN where a server does not return it.
   */
  logprobs: Float32Array;
  stop: "stop" | "length";
}

/** Draws responses from the current student: p_old of Section 3.4. */
export interface Sampler {
  sample(requests: readonly SampleRequest[], options?: WorkOptions): Promise<SampleResult[]>;
  /** As `Scorer.forget`; a device may round differently when a batch has another size, too. */
  forget?(): void;
}

/** One student decision with everything that a step needs of it: Eq. (9), or a divergence of distributions. */
export interface TrainItem {
  episode: string;
  decision: number;
  /** The response is not the student's but a bridge, which the teacher gave at the same decision; absent otherwise. */
  bridge?: true;
  promptIds: readonly number[];
  responseIds: readonly number[];
  /** log q^R of each response token, from the frozen teacher; null where no teacher was asked. */
  teacherLogprobs: ArrayLike<number> | null;
  /** log p_old of each response token, from the rollout policy; null: the student itself, before this step (ρ = 1). */
  rolloutLogprobs: ArrayLike<number> | null;
  /** The weight of each of its tokens: w = 1/(N L_e), unless its stage weighs otherwise. */
  weight: number;
  /** Factor c of the teacher's signal in the advantage, A = c·(log q^R − log p_θ) + r; 1 when absent. */
  teacherScale?: number;
  /** What the task's reward adds to the advantage of each token, r; 0 when absent. */
  rewardAdvantage?: number;
  /** [response tokens] 1 where a token is left out of the loss; none is where absent. */
  masked?: Uint8Array;
  /**
   * The teacher's k most probable tokens in each place, natural log: the step then takes the reverse KL over them in place
   * of Eq. (9). The items of one step are all of one kind.
   */
  teacherTop?: TopTokens;
  /** [response tokens · vocabulary] natural log: the step takes the reverse KL over the whole vocabulary. */
  teacherDistribution?: Float32Array;
}

/** [response tokens · k] each, the tokens of one place distinct. */
export interface TopTokens {
  ids: Uint32Array;
  logprobs: Float32Array;
}

/** AdamW with a bound on the global gradient norm, and the clipping radius of Eq. (9). */
export interface StepSettings {
  learningRate: number;
  beta1: number;
  beta2: number;
  /** Adam's epsilon in the denominator. */
  adamEpsilon: number;
  weightDecay: number;
  /** Largest global L2 norm of the gradient; larger gradients are scaled down. */
  maxGradNorm: number;
  /** Clipping radius ε of the surrogate. */
  clip: number;
}

/** The paper's settings (Table "Common training configuration"). */
export const PAPER_SETTINGS: StepSettings = {
  learningRate: 1e-5,
  beta1: 0.9,
  beta2: 0.999,
  adamEpsilon: 1e-8,
  weightDecay: 0,
  maxGradNorm: 1.0,
  clip: 0.2,
};

/** What one decision's tokens looked like in a step, before the update. Arrays are [response tokens]. */
export interface ItemReport {
  episode: string;
  decision: number;
  logprobs: Float32Array;
  ratio: Float32Array;
  /** A of Eq. (8), or −KL of the token where the step takes a divergence; 0 for masked tokens. */
  advantage: Float32Array;
  /** 1 where the clipped branch was taken and the token gives no gradient; a divergence is never clipped. */
  clipped: Uint8Array;
}

export interface StepReport {
  /** Optimizer steps taken so far, this one included. */
  step: number;
  /** Eq. (9), or the mean KL Σ w·KL_t, before the update. */
  loss: number;
  /** Global L2 norm of the gradient, before clipping. */
  gradNorm: number;
  tokens: number;
  items: ItemReport[];
}

/** Where a model folder is written: all of it or, when `abort` is called, none of it. */
export interface FolderWriter {
  write(name: string, chunks: AsyncIterable<Uint8Array> | Iterable<Uint8Array>): Promise<void>;
  /** Makes the folder visible under its final name. */
  commit(): Promise<void>;
  abort(): Promise<void>;
}

/** A model folder or a part of one, read by range. */
export interface FolderReader {
  /** Shown in messages. */
  readonly name: string;
  list(): Promise<string[]>;
  size(file: string): Promise<number>;
  /**
   * Bytes [start, end) of a file. `into`: at least `end - start` bytes that the result may use, since fresh memory may take
   * longer than reading. The result is what is returned, whether or not it lies in `into`.
   */
  read(file: string, start: number, end: number, into?: Uint8Array<ArrayBuffer>): Promise<Uint8Array>;
}

/** The student: scored, sampled and updated. Only it ever changes. */
export interface Trainer extends Scorer, Sampler {
  /**
   * One optimizer step on Eq. (9), or on the divergence that the items ask for, over all items; the advantage uses the
   * parameters before the step.
   *
   * @throws InputError where the items ask for a divergence that the trainer does not compute
   */
  step(items: readonly TrainItem[], settings: StepSettings, options?: WorkOptions): Promise<StepReport>;
  /** Writes a Hugging Face folder (config.json, model.safetensors) and, if asked, the optimizer state beside it. */
  save(writer: FolderWriter, options: { optimizer: boolean }): Promise<void>;
}

/**
 * What an environment offers an agent before a decision, as its interface lists it: ALFWorld's admissible commands,
 * sorted; WebShop's search bar and clickables, in page order; or ScienceWorld's action templates and object names.
 */
export type Offered =
  | { commands: readonly string[] }
  | { searchBar: boolean; clickables: readonly string[] }
  | { templates: readonly string[]; objects: readonly string[] };

/** What an environment shows before a decision. */
export interface EnvironmentTurn {
  observation: string;
  /** The engine's own text, unchanged: its answer to the last action, or the whole reset text. */
  feedback: string;
  /** Null where the environment lists nothing. */
  offered: Offered | null;
  /** Locator z, or null when the capture is unreliable (⊥). */
  state: State | null;
  score: number | null;
  done: boolean;
  success: boolean;
}

/** The first turn of an episode. */
export interface EnvironmentStart extends EnvironmentTurn {
  /** The task's instruction, as prompts and records state it. */
  description: string;
}

/** The answer to one action, and the turn that follows it. */
export interface EnvironmentAnswer extends EnvironmentTurn {
  /** Whether the action was executed or rejected, as records write it. */
  status: Status;
}

/** The environment cannot answer, and makes nothing up: the episode has ended for a technical reason. */
export interface NoAnswer {
  /** The reason, for people: no model reads it. */
  unanswered: string;
}

/**
 * Somewhere to act. Prompts, limits, seeds, and what becomes of malformed and rejected replies are the caller's: an
 * environment executes actions, and a malformed reply never reaches it.
 */
export interface Environment {
  /**
   * Starts a task from its beginning, whatever was played before.
   *
   * @throws EnvironmentError when another try may do; InputError otherwise, for example for a task that is not there
   */
  reset(task: string): Promise<EnvironmentStart>;
  step(action: string): Promise<EnvironmentAnswer | NoAnswer>;
  close(): Promise<void>;
}
