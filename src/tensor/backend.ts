/**
 * The operations that the models are written in, once, for every device.
 *
 * A backend owns tensors and applies operations to them. `reference/` implements them in plain TypeScript and is the
 * truth that tests compare with; `webgpu/` implements them as WGSL kernels. A call encodes work and returns at once;
 * only `read` waits. All values are f32 (`u32` for indices), dense, row-major. Shapes are checked by every operation.
 *
 * Conventions: `T` tokens (several sequences packed one after the other, no padding), `d` hidden size, `H` query
 * heads, `G` key/value heads (G divides H), `D` head dimension, `V` vocabulary, `R` response rows. A weight of a
 * linear layer is [out, in], as Hugging Face stores it. Gradients of weights ACCUMULATE into the given tensor.
 */
export interface Tensor {
  readonly shape: readonly number[];
  readonly dtype: "f32" | "u32";
}

/** Which keys each query row may see: rows start[i] … end[i]-1. Packed causal attention: start = first row of the sequence, end = i + 1. */
export interface KeyRange<T extends Tensor> {
  /** u32 [Tq] */
  start: T;
  /** u32 [Tq] */
  end: T;
}

/** A method's type, so that a backend of its own tensor type may be passed where any `Backend` is expected. */
export type Keep<T extends Tensor> = { keep(t: T): T }["keep"];

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

  // --- memory ---------------------------------------------------------------------------------------------------
  fromArray(data: Float32Array | Uint32Array, shape: readonly number[]): T;
  zeros(shape: readonly number[], dtype?: "f32" | "u32"): T;
  /** Overwrites all values of an existing tensor. */
  write(t: T, data: Float32Array | Uint32Array): void;
  read(t: T): Promise<Float32Array>;
  /** Gives `t` itself another shape of as many values, and returns it; nothing is copied. [T, H·D] ⇄ [T, H, D] */
  reshape(t: T, shape: readonly number[]): T;
  free(...tensors: (T | null | undefined)[]): void;
  /** Tensors made while `work` runs are freed afterwards, except those that it returns in `keep`. */
  scope<R>(work: (keep: Keep<T>) => R): R;
  /** Number and bytes of live tensors: tests watch it for leaks. */
  live(): { tensors: number; bytes: number };
  /** Submits what was encoded so far (a no-op on the CPU); call between layers so that no submission runs long. */
  flush(): void;
  /** Resolves when all submitted work is done; rejects with one clear error when the device was lost or an operation failed. */
  sync(): Promise<void>;
  dispose(): void;

  // --- linear algebra -------------------------------------------------------------------------------------------
  /** y[M,N] = x[M,K] · w[N,K]ᵀ */
  linear(x: T, w: T): T;
  /** dx[M,K] = dy[M,N] · w[N,K] */
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
  fill(t: T, value: number): void;

  // --- rows -----------------------------------------------------------------------------------------------------
  /** y[T,d] = table[ids[t]] */
  embedding(table: T, ids: T): T;
  /** dtable[ids[t]] += dy[t]; `ids` on the host, since repeated ids are grouped there (no float atomics). */
  embeddingBackward(dtable: T, ids: Uint32Array, dy: T): void;
  /** y[r] = x[rows[r]] */
  gatherRows(x: T, rows: T): T;
  /** y[T,d], zero except y[rows[r]] = dy[r]; rows are distinct. */
  scatterRows(dy: T, rows: T, count: number): T;
  /** Copies src[n, …] into dst rows at, at+1, … (KV cache). */
  copyRows(dst: T, at: number, src: T): void;

  // --- normalisation and positions ------------------------------------------------------------------------------
  /** Over the last dimension of size w.length: y = x · rstd · w, rstd = 1/√(mean(x²) + eps). x is [..., n]; rstd has one value a row. */
  rmsNorm(x: T, w: T, eps: number): { y: T; rstd: T };
  /** Returns dx; dw accumulates. */
  rmsNormBackward(dw: T, dy: T, x: T, w: T, rstd: T): T;
  /**
   * Rotary embedding of x [T, heads, D] by the angles of cos/sin [positions, D/2] at `positions` u32 [T], halves
   * paired (i, i + D/2) as Qwen3 does. Tables are made on the host in f64. `inverse` rotates back: the backward pass.
   */
  rope(x: T, cos: T, sin: T, positions: T, inverse?: boolean): T;

  // --- attention ------------------------------------------------------------------------------------------------
  /** Grouped-query softmax attention with scale 1/√D. q [Tq,H,D], k and v [Tk,G,D] → o [Tq,H,D], lse [Tq,H] (natural log). */
  attention(q: T, k: T, v: T, keys: KeyRange<T>): { o: T; lse: T };
  /** Tq = Tk. queryEnd u32 [Tk]: key j is seen by query rows j … queryEnd[j]-1 (packed causal). */
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

  // --- vocabulary head ------------------------------------------------------------------------------------------
  /** logprobs[r] = h[r]·w[targets[r]] − lse[r], lse over all V rows of w [V,d]. No [R,V] array is made. */
  headLogprobs(h: T, w: T, targets: T): { logprobs: T; lse: T };
  /** With c[r] = ∂L/∂logprobs[r]: dlogits = c (onehot − softmax), in tiles of rows. Returns dh; dw accumulates (null: w is frozen). */
  headBackward(dw: T | null, h: T, w: T, targets: T, lse: T, c: T): T;

  // --- optimizer ------------------------------------------------------------------------------------------------
  /** Σ of squares over all elements of all tensors → [1]. */
  sumSquares(tensors: readonly T[]): T;
  /** AdamW as torch writes it (decoupled decay first), in place on p, m, v. */
  adamw(p: T, g: T, m: T, v: T, step: AdamWStep): void;
}
