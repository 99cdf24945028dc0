/**
 * The operations that the models are written in, once, for every device.
 *
 * A backend owns tensors and applies operations to them. `reference/` implements them in plain TypeScript and is the
 * truth that tests compare with; `webgpu/` implements them as WGSL kernels. A call encodes work and returns at once;
 * only `read` waits. All values are f32 (`u32` for indices), dense, row-major. Shapes are checked by every operation.
 * Frozen weights may be stored in fewer bits (`FrozenFormat`); where one is accepted, the operation says so.
 *
 * Conventions: `T` tokens (several sequences packed one after the other, no padding), `d` hidden size, `H` query
 * heads, `G` key/value heads (G divides H), `D` head dimension, `V` vocabulary, `R` response rows. A weight of a
 * linear layer is [out, in], as Hugging Face stores it. Gradients of weights ACCUMULATE into the given tensor.
 */
import type { DeviceError } from "../core/errors.ts";
import type { PieceTransfer } from "./pieces.ts";
import type {
  DecodeState,
  Draws,
  HeadNorms,
  KeyRange,
  LayerCache,
  NormOf,
  RowSpan,
  StepRows,
  Tensor,
  WeightFormat,
} from "./tensor.ts";
import type { TuningShapes } from "./tuning-shapes.ts";
import type { WeightUpload } from "./weight-upload.ts";
import type { AttentionParameter, BlockParameter } from "./weights.ts";

/** Operations that were encoded once and can be run again, on the values that their tensors hold by then. */
export interface Recording {
  run(): void;
  /** Frees the tensors made while it was recorded. */
  dispose(): void;
}

/** A model of full-attention layers, as `wholeDecoder` takes it. */
export interface WholeModel<T extends Tensor = Tensor> {
  heads: number;
  keyValueHeads: number;
  headSize: number;
  normEpsilon: number;
  embedding: T;
  head: T;
  finalNorm: T;
  layers: readonly Readonly<Record<BlockParameter | AttentionParameter, T>>[];
}

/** Takes sequences of a small model on, several tokens each at once. */
export interface WholeDecoder<T extends Tensor = Tensor> {
  /** Whether so many sequences of `room` tokens find place. */
  fits(sequences: number, room: number): boolean;
  /** One f32 tensor, to be freed by the caller, with `rows` rows of keys and of values for each layer as windows on it. */
  allocateCache(rows: number): { all: T; layers: LayerCache<T>[] };
  /**
   * At most `tokens` times what `decodeStep` does, for each sequence that goes on; `rows` and `ends` stay as they are.
   * Draws are without top-k and top-p.
   */
  decode(cache: T, tables: { cos: T; sin: T }, state: DecodeState<T>, tokens: number): void;
  dispose(): void;
}

/** A method's type, so that a backend of its own tensor type may be passed where any `Backend` is expected. */
export type Keep<T extends Tensor> = { keep(t: T): T }["keep"];

/** A parameter, its gradient and its two moments, of one shape. */
export interface AdamWTensors<T extends Tensor = Tensor> {
  p: T;
  g: T;
  m: T;
  v: T;
}

export interface AdamWStep {
  learningRate: number;
  beta1: number;
  beta2: number;
  epsilon: number;
  weightDecay: number;
  /** Number of this step, from 1: for the bias corrections. */
  step: number;
  /** The gradient is multiplied by this first (global-norm clipping). */
  gradScale: number;
}

export interface Backend<T extends Tensor = Tensor> {
  readonly kind: "webgpu" | "cpu";
  /** Adapter or processor, as shown to users. */
  readonly description: string;
  /** Format of the operands of matrix products. */
  readonly compute: "f32" | "f16";
  /** Tokens of one pass that fill the device and its memory well: the default size of packs. */
  readonly packTokens: number;
  /**
   * What a cache of keys and values with heads of `size` is kept in for decoding: f16 is half as much to read, and its
   * values are at most 65,504.
   */
  cacheFormat(size: number): "f32" | "f16";

  // --- memory ---------------------------------------------------------------------------------------------------
  fromArray(data: Float32Array | Uint32Array, shape: readonly number[]): T;
  zeros(shape: readonly number[], dtype?: "f32" | "u32"): T;
  /** Overwrites all values of an existing tensor. */
  write(t: T, data: Float32Array | Uint32Array): void;
  /** The values, or `count` of them from `at` on; weights of a frozen format are expanded to f32. */
  read(t: T, range?: { at: number; count: number }): Promise<Float32Array>;
  /** A weight of any format, to be filled by `writeWords` piece by piece: its values are undefined until then. */
  allocateWeight(format: WeightFormat, shape: readonly number[]): T;
  /** Puts words of a weight's storage (`packRows`) at word `at` of it. */
  writeWords(t: T, at: number, words: Uint32Array): void;
  /** Weights from files, brought to their format by the device; absent where the host is as fast. */
  readonly weightUpload?: WeightUpload<T>;
  /** Gives `t` itself another shape of as many values, and returns it; nothing is copied. [T, H·D] ⇄ [T, H, D] */
  reshape(t: T, shape: readonly number[]): T;
  free(...tensors: (T | null | undefined)[]): void;
  /** Tensors made while `work` runs are freed afterwards, except those that it returns in `keep`. */
  scope<R>(work: (keep: Keep<T>) => R): R;
  /** Number and bytes of live tensors: tests watch it for leaks. */
  live(): { tensors: number; bytes: number };
  /**
   * What went wrong on the device last; absent where nothing did. An error comes to light for whoever asks next, so any
   * work that was running when one was found may be wrong.
   */
  readonly lastFault?: DeviceError | undefined;
  /** Parts of f32 tensors, to and from the host. */
  readonly pieces: PieceTransfer<T>;
  /**
   * Lets the device begin with what was encoded so far, where that is enough to be worth a submission (a no-op on the
   * CPU); call between layers. Reads and `sync` submit everything.
   */
  submitAhead(): void;
  /** Resolves when all submitted work is done; rejects with one clear error when the device was lost or an operation failed. */
  sync(): Promise<void>;
  /**
   * Measures which kernels serve these shapes best, once for each class of shapes on each adapter, and takes them from
   * then on. Absent, and doing nothing on software adapters, where fixed rules serve. Results may differ in the last
   * digits from those by the rules.
   */
  tune?(shapes: TuningShapes): Promise<void>;
  /**
   * Runs `work` and keeps what it encodes, to be run again without encoding it. The work writes nothing from the host and
   * reads nothing back; the buffers of tensors that it makes are its own until the recording is disposed. Absent where nothing is encoded.
   */
  record?(work: () => void): Recording;
  /**
   * A decoder in which each sequence goes through all layers by itself, in one dispatch; null for models that are faster,
   * or fit, only layer by layer. Absent where nothing is dispatched.
   */
  wholeDecoder?(model: WholeModel<T>): WholeDecoder<T> | null;
  dispose(): void;

  // --- linear algebra -------------------------------------------------------------------------------------------
  /**
   * y[M,N] = x[M,K] · w[N,K]ᵀ; w in any format. `fine`: columns of y, and rows of w, that a backend with f16 operands
   * computes with 22 bits of x, and of an f32 w, in place of 11: for what is sensitive to them.
   */
  linear(x: T, w: T, fine?: RowSpan): T;
  /** `linear` of one x, or of its norm, with several weights, side by side: [M, ΣN]. */
  linearJoined(x: T, weights: readonly T[], norm?: NormOf<T>): T;
  /** swiglu(linear(x, gate), linear(x, up)) of x, or of its norm. */
  linearSwiglu(x: T, gate: T, up: T, norm?: NormOf<T>): T;
  /** y[M,N] += linear(x, w) */
  addLinear(y: T, x: T, w: T): void;
  /** dx[M,K] = dy[M,N] · w[N,K]; w in any format. */
  linearBackwardInput(dy: T, w: T): T;
  /** dw[N,K] += dy[M,N]ᵀ · x[M,K] */
  linearBackwardWeight(dw: T, dy: T, x: T): void;

  // --- elementwise ----------------------------------------------------------------------------------------------
  /** a + b, same shape. */
  add(a: T, b: T): T;
  /** a += b, same shape. */
  addInPlace(a: T, b: T): void;
  /** silu(gate) · up, [T, f] each. */
  swiglu(gate: T, up: T): T;
  swigluBackward(gate: T, up: T, dy: T): { dgate: T; dup: T };
  /** x ∘ sigmoid(gate), same shape. */
  sigmoidGate(x: T, gate: T): T;
  sigmoidGateBackward(x: T, gate: T, dy: T): { dx: T; dgate: T };
  fill(t: T, value: number): void;

  // --- rows -----------------------------------------------------------------------------------------------------
  /** y[T,d] = table[ids[t]]; table in any format. */
  embedding(table: T, ids: T): T;
  /** dtable[ids[t]] += dy[t]; `ids` on the host, since repeated ids are grouped there (no float atomics). */
  embeddingBackward(dtable: T, ids: Uint32Array, dy: T): void;
  /** y[r] = x[rows[r]] for x [T, …] in f32 or f16; y is f32 */
  gatherRows(x: T, rows: T): T;
  /** y[T,d], zero except y[rows[r]] = dy[r]; rows are distinct. */
  scatterRows(dy: T, rows: T, count: number): T;
  /** Cuts the columns of x [R, Σ widths] into tensors [R, width]. */
  splitColumns(x: T, widths: readonly number[]): T[];
  /** Puts tensors [R, width] side by side: [R, Σ widths]. */
  joinColumns(parts: readonly T[]): T;
  /** Copies src[n, …] into dst rows at, at+1, … (KV cache). */
  copyRows(dst: T, at: number, src: T): void;
  /**
   * dst[rows[n]] = src[n] for src [n, …] and dst [N, …] in f32 or `cacheFormat`; rows u32 are distinct (of equal ones any
   * may stay), and inside dst where the device alone knows them.
   */
  putRows(dst: T, rows: T, src: T): void;

  // --- normalisation and positions ------------------------------------------------------------------------------
  /**
   * Over the last dimension of size w.length: y = x · rstd · (offset + w), rstd = 1/√(mean(x²) + eps). x is [..., n];
   * rstd has one value per row. `offset` (default 0) is 1 for weights that are stored around zero.
   */
  rmsNorm(x: T, w: T, eps: number, offset?: number): { y: T; rstd: T };
  /** sum = a + b and its rmsNorm, in one pass over the values. */
  addRmsNorm(a: T, b: T, w: T, eps: number, offset?: number): { sum: T; y: T; rstd: T };
  /** rope(rmsNorm(x)) of x [T, heads, D], w [D], in one pass. rstd [T·heads] */
  rmsNormRope(x: T, w: T, eps: number, cos: T, sin: T, positions: T, offset?: number): { y: T; rstd: T };
  /** Returns dx, with `plus` added to it (what came past the norm) if given; dw accumulates (null: w is a constant). */
  rmsNormBackward(dw: T | null, dy: T, x: T, w: T, rstd: T, plus?: T | null, offset?: number): T;
  /**
   * Rotary embedding of the first r values of each head of x [T, heads, D] by the angles of cos/sin [positions, r/2] at
   * `positions` u32 [T], halves paired (i, i + r/2) as Qwen3 does; the other D − r stay. Tables are made on the host in
   * f64. `inverse` rotates back: the backward pass.
   */
  rope(x: T, cos: T, sin: T, positions: T, inverse?: boolean): T;

  // --- attention ------------------------------------------------------------------------------------------------
  /** Grouped-query softmax attention with scale 1/√D. q [Tq,H,D], k and v [Tk,G,D] → o [Tq,H,D], lse [Tq,H] (natural log). */
  attention(q: T, k: T, v: T, keys: KeyRange<T>): { o: T; lse: T };
  /**
   * The attention of a step of decoding. A row of qkv [T, (H+2G)·D] has queries, then keys, then values, as linear layers
   * gave them. Its keys, normed and turned, and its values go to row rows[t] of the cache; its queries, normed and turned,
   * attend to the cache's rows starts[t] … rows[t]: o [T, H·D]. See `rmsNormRope`, `putRows` and `attention`. Whatever
   * two rows of qkv write to one row of the cache must be the same values: one may read it while another writes it.
   */
  attendNext(
    cache: LayerCache<T>,
    qkv: T,
    norms: HeadNorms<T>,
    tables: { cos: T; sin: T },
    step: StepRows<T>,
  ): T;
  /**
   * Tq = Tk. queryEnd u32 [Tk]: key j is seen by query rows j … queryEnd[j]-1, all of them (packed causal). A shared
   * prefix comes first and its continuations follow at once: queryEnd of its keys is the end of the last of them.
   */
  attentionBackward(
    dout: T,
    q: T,
    k: T,
    v: T,
    o: T,
    lse: T,
    keys: KeyRange<T>,
    queryEnd: T,
  ): { dq: T; dk: T; dv: T };

  // --- linear attention (Gated DeltaNet) ----------------------------------------------------------------------------
  /**
   * Depthwise causal convolution over time and SiLU: y[t,c] = silu(Σ_j w[c,0,j] x[t−K+1+j, c]) for x [T,C], w [C,1,K].
   * Rows before start[t] (u32 [T], the first row of its sequence) count as 0.
   */
  causalConv(x: T, w: T, start: T): T;
  /** `end` u32 [T]: the row after the last of its sequence. Returns dx; dw accumulates. */
  causalConvBackward(dw: T, dy: T, x: T, w: T, start: T, end: T): T;
  /**
   * The two gates of each value head, [T,N,2] from a, b [T,N] and aLog, bias [N]: first the logarithm of what is kept of
   * the state, g = −exp(aLog) softplus(a + bias), then the step β = sigmoid(b).
   */
  deltaGates(a: T, b: T, aLog: T, bias: T): T;
  /** daLog and dbias accumulate. */
  deltaGatesBackward(daLog: T, dbias: T, dgates: T, a: T, b: T, aLog: T, bias: T): { da: T; db: T };
  /**
   * The gated delta rule. q and k [T,G,dk] (value head n uses key head ⌊n G/N⌋), v [T,N,dv], gates [T,N,2] as of
   * `deltaGates`; `sequences` u32 [S+1] has the first row of each sequence and then T. Each value head has a state S
   * [dk,dv], zero at the start of a sequence:
   *
   *     error_t = v_t − exp(g_t) S_{t−1}ᵀ k_t       S_t = exp(g_t) S_{t−1} + k_t (β_t error_t)ᵀ       o_t = S_tᵀ q_t
   *
   * `state` [S,N,dk,dv], where given, holds the states before the first rows and afterwards those after the last ones.
   */
  deltaRule(q: T, k: T, v: T, gates: T, sequences: T, state?: T): { o: T; errors: T };
  /** For states that were zero at the starts. */
  deltaRuleBackward(
    dout: T,
    q: T,
    k: T,
    v: T,
    gates: T,
    sequences: T,
    o: T,
    errors: T,
  ): { dq: T; dk: T; dv: T; dgates: T };
  /**
   * States S of the delta rule on its way, [P,N,dk,dv], from the `errors` that it left: state p is zero before the row
   * spans[p,0] and taken after the row spans[p,1] − 1, for `spans` u32 [P,2]. Spans of one first row stand together, the
   * shorter before the longer.
   */
  deltaStates(k: T, gates: T, errors: T, spans: T): T;

  // --- vocabulary head ------------------------------------------------------------------------------------------
  /** logprobs[r] = h[r]·w[targets[r]] − lse[r], lse over all V rows of w [V,d], in any format. No [R,V] array is made. */
  headLogprobs(h: T, w: T, targets: T): { logprobs: T; lse: T };
  /**
   * Of the distribution after each row, with `lse` of `headLogprobs`: its entropy [R] in nats, and its `top` (0 to 64)
   * most probable tokens, the most probable first and the lower id first among equals: log-probabilities and ids
   * [R,top], ids as f32 (exact below 2²⁴). No [R,V] array is made.
   */
  headDistribution(h: T, w: T, lse: T, top: number): { entropy: T; topIds: T; topLogprobs: T };
  /**
   * Draws one token for each sequence that goes on, from logits [M,V]: the first in order of id whose cumulative
   * softmax(logits / temperature) over the drawable ids within its bounds exceeds its uniform number. Writes it to `results`, and moves
   * `progress`, `ids`, `positions`, `rows` and `ends` on, or ends the sequence.
   */
  drawTokens(logits: T, draws: Draws<T>): void;
  /** With c[r] = ∂L/∂logprobs[r]: dlogits = c (onehot − softmax), in tiles of rows. Returns dh; dw accumulates (null: w is frozen, and may be of any format). */
  headBackward(dw: T | null, h: T, w: T, targets: T, lse: T, c: T): T;
  /**
   * Reverse KL of each row of a student's logits [M,V] against a teacher's [M,V], natural log, both normalised over V: [M].
   * The logits become slopes, c[m] ∂kl[m]/∂logits.
   */
  reverseKl(logits: T, teacher: T, c: T): T;
  /**
   * The same over `ids` u32 [M,k] alone, distinct in a row and at most 64, with the teacher's [M,k]: both are normalised
   * over them, and all other logits become 0.
   */
  topReverseKl(logits: T, ids: T, teacher: T, c: T): T;

  // --- optimizer ------------------------------------------------------------------------------------------------
  /** Σ of squares over all elements of all tensors → [1]. */
  sumSquares(tensors: readonly T[]): T;
  /** AdamW as torch writes it (decoupled decay first), in place on p, m, v of each parameter, which has its own. */
  adamw(parameters: readonly AdamWTensors<T>[], step: AdamWStep): void;
}
