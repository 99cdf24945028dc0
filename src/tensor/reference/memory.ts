import type { Backend } from "../backend.ts";
import { checkRange, elements } from "../shapes.ts";
import type { Tensor, WeightFormat } from "../tensor.ts";
import { isFrozen, unpackRows, weightWords } from "../weight-format.ts";

/** A tensor in ordinary memory. Its values are reachable until it is freed. */
export class HostTensor implements Tensor {
  #data: Float32Array | Uint32Array | null;

  constructor(
    data: Float32Array | Uint32Array,
    public shape: readonly number[],
    readonly dtype: WeightFormat | "u32",
  ) {
    this.#data = data;
  }

  get freed(): boolean {
    return this.#data === null;
  }

  get data(): Float32Array | Uint32Array {
    if (this.#data === null) throw new Error(`tensor [${this.shape.join(",")}] was used after it was freed`);
    return this.#data;
  }

  /** The values; of a frozen format an expanded copy, so that callers should ask once. */
  get f32(): Float32Array {
    const data = this.data;
    if (isFrozen(this.dtype)) return this.rows(0, this.shape[0]!);
    if (!(data instanceof Float32Array)) throw new Error("expected a tensor of f32, got u32");
    return data;
  }

  /** The values of rows `from` … `to` − 1 of a matrix in any format, or of a tensor [N, …] in f32 or f16. */
  rows(from: number, to: number): Float32Array {
    const data = this.data;
    const width = elements(this.shape.slice(1));
    if (this.dtype === "u32") throw new Error("expected a tensor of f32, got u32");
    if (data instanceof Float32Array) return data.subarray(from * width, to * width);
    return unpackRows(this.dtype, width, data, from, to);
  }

  get u32(): Uint32Array {
    const data = this.data;
    if (this.dtype !== "u32" || !(data instanceof Uint32Array))
      throw new Error("expected a tensor of u32, got f32");
    return data;
  }

  release(): void {
    this.#data = null;
  }
}

type MemoryOperations = Pick<
  Backend<HostTensor>,
  | "fromArray"
  | "zeros"
  | "write"
  | "read"
  | "allocateWeight"
  | "writeWords"
  | "reshape"
  | "free"
  | "scope"
  | "live"
>;

/** Counts live tensors and frees those of a scope when it ends. */
export class HostMemory implements MemoryOperations {
  readonly #live = new Set<HostTensor>();
  #bytes = 0;
  readonly #scopes: Set<HostTensor>[] = [];

  /** Takes the array over without a copy. */
  adopt(data: Float32Array | Uint32Array, shape: readonly number[]): HostTensor {
    if (data.length !== elements(shape))
      throw new Error(`${data.length} values do not fill the shape [${shape.join(",")}]`);
    return this.#add(new HostTensor(data, [...shape], data instanceof Float32Array ? "f32" : "u32"));
  }

  #add(t: HostTensor): HostTensor {
    this.#live.add(t);
    this.#bytes += t.data.byteLength;
    this.#scopes.at(-1)?.add(t);
    return t;
  }

  fromArray = (data: Float32Array | Uint32Array, shape: readonly number[]): HostTensor =>
    this.adopt(data.slice(), shape);

  zeros = (shape: readonly number[], dtype: "f32" | "u32" = "f32"): HostTensor =>
    this.adopt(dtype === "f32" ? new Float32Array(elements(shape)) : new Uint32Array(elements(shape)), shape);

  write = (t: HostTensor, data: Float32Array | Uint32Array): void => {
    if (
      isFrozen(t.dtype) ||
      data.length !== t.data.length ||
      data instanceof Float32Array !== (t.dtype === "f32")
    )
      throw new Error(`write: ${data.length} values do not fit ${t.dtype}[${t.shape.join(",")}]`);
    t.data.set(data);
  };

  read = async (t: HostTensor, range?: { at: number; count: number }): Promise<Float32Array> => {
    checkRange(t, range);
    return range ? t.f32.slice(range.at, range.at + range.count) : t.f32.slice();
  };

  allocateWeight = (format: WeightFormat, shape: readonly number[]): HostTensor =>
    format === "f32"
      ? this.zeros(shape)
      : this.#add(new HostTensor(new Uint32Array(weightWords(format, shape)), [...shape], format));

  writeWords = (t: HostTensor, at: number, words: Uint32Array): void => {
    const { data } = t;
    if (t.dtype === "u32" || at < 0 || at + words.length > data.length)
      throw new Error(
        `writeWords: ${words.length} words at ${at} do not fit ${t.dtype}[${t.shape.join(",")}]`,
      );
    new Uint32Array(data.buffer, data.byteOffset, data.length).set(words, at);
  };

  reshape = (t: HostTensor, shape: readonly number[]): HostTensor => {
    if (isFrozen(t.dtype) || elements(shape) !== t.data.length)
      throw new Error(`reshape: [${t.shape.join(",")}] has not as many values as [${shape.join(",")}]`);
    t.shape = [...shape];
    return t;
  };

  free = (...tensors: (HostTensor | null | undefined)[]): void => {
    for (const t of tensors) {
      if (t == null || t.freed) continue;
      if (!this.#live.delete(t)) throw new Error("a tensor of another backend cannot be freed here");
      this.#bytes -= t.data.byteLength;
      for (const scope of this.#scopes) scope.delete(t);
      t.release();
    }
  };

  scope = <R>(work: (keep: (t: HostTensor) => HostTensor) => R): R => {
    const made = new Set<HostTensor>();
    const kept: HostTensor[] = [];
    this.#scopes.push(made);
    let done = false;
    try {
      const result = work((t) => {
        kept.push(t);
        return t;
      });
      done = true;
      return result;
    } finally {
      this.#scopes.pop();
      // What is kept belongs to the scope outside, if there is one; after an error nothing is kept.
      if (done)
        for (const t of kept) {
          if (made.delete(t)) this.#scopes.at(-1)?.add(t);
        }
      this.free(...made);
    }
  };

  live = (): { tensors: number; bytes: number } => ({ tensors: this.#live.size, bytes: this.#bytes });

  dispose(): void {
    this.free(...this.#live);
  }
}
