import { elements } from "../shapes.ts";
import type { Tensor, WeightFormat } from "../tensor.ts";
import { weightWords } from "../weight-format.ts";
import { BufferPool, type PooledBuffer, suits } from "./buffer-pool.ts";
import { USAGE } from "./device.ts";

const ALIGNMENT = 16;
/** Bindings begin at multiples of 256 bytes on every device. */
export const WINDOW_STEP = 64;
/** Smaller buffers are not worth being cut to measure. */
const WORTH_FITTING = 2 ** 16;
/** Bytes that idle buffers may take beyond the most that tensors took of late: half of that most, within these bounds. */
const POOL_SLACK = [2 ** 30, 2 ** 32] as const;

export type GpuType = WeightFormat | "u32";

/** A tensor's values in another format, as its version `version` was. */
interface KeptCopy {
  readonly values: GpuTensor;
  readonly scale: GpuTensor;
  /** The scale is the tensor's own, and stays when the copy goes. */
  readonly ownScale?: true;
  version: number;
}

/** `rows` of a panel, for a matrix of `matrixRows` × `columns`. */
interface KeptPanels extends KeptCopy {
  readonly rows: number;
  readonly matrixRows: number;
  readonly columns: number;
  readonly once: false;
}

/**
 * A tensor on the device, or a window on a part of one. `bytes` is its data; the buffer behind it may be longer, and
 * longer than what one binding may span: kernels then see it through windows.
 */
export class GpuTensor implements Tensor {
  private isFreed = false;
  private writes = 0;
  /** Windows on it, by word and shape: each is made once, so that what is kept of its values is found again. */
  readonly windows = new Map<string, GpuTensor>();
  /** Words of 32 bits; of f32 and u32 one per value. */
  readonly words: number;
  /** Its values as f16 operands, kept for as long as it lives (see `half.ts`). */
  half: KeptCopy | undefined;
  /** The same as a matrix in panels. */
  panels: KeptPanels | undefined;
  /** Of a frozen weight: what its values are multiples of in f16. */
  scaling: { scale: GpuTensor; version: number } | undefined;
  /** No scope frees it. */
  lasting = false;
  /** Of a u32 tensor: the largest value the host wrote, so that ids and rows out of range are refused. */
  largest = 0;
  constructor(
    public shape: readonly number[],
    readonly dtype: GpuType,
    /** Values. */
    readonly length: number,
    readonly pooled: PooledBuffer,
    /** A copy that the backend keeps of another tensor's values: in no scope, and not among the live tensors. */
    readonly copy = false,
    /** Byte of the buffer where the data begin: above 0 for windows only. */
    readonly offset = 0,
    /** What a window looks at. */
    private readonly owner: GpuTensor | null = null,
  ) {
    this.words = weightWords(dtype, shape);
  }

  /** Counts the commands that wrote to it: copies of its values in another format are stale when it has moved on. */
  get version(): number {
    return this.owner?.version ?? this.writes;
  }
  set version(value: number) {
    if (this.owner) this.owner.version = value;
    else this.writes = value;
  }
  get freed(): boolean {
    return this.owner?.freed ?? this.isFreed;
  }
  markFreed(): void {
    this.isFreed = true;
  }
  get isWindow(): boolean {
    return this.owner !== null;
  }
  /** The words from `word` on (a multiple of `WINDOW_STEP`) as a tensor of its own; nothing is copied, nothing counted. */
  window(word: number, shape: readonly number[]): GpuTensor {
    if (this.owner) return this.owner.window((this.offset - this.owner.offset) / 4 + word, shape);
    const key = `${word}:${shape.join()}`;
    const found = this.windows.get(key);
    if (found) return found;
    const words = weightWords(this.dtype, shape);
    if (word % WINDOW_STEP !== 0 || word < 0 || word + words > this.words)
      throw new Error(`window of ${words} words at ${word} on a tensor of ${this.words}`);
    const window = new GpuTensor(shape, this.dtype, elements(shape), this.pooled, false, word * 4, this);
    this.windows.set(key, window);
    return window;
  }

  get buffer(): GPUBuffer {
    return this.pooled.buffer;
  }
  /** Bytes of data. */
  get bytes(): number {
    return this.words * 4;
  }
  /** Bytes that a kernel has to have bound: whole vec4s, so that it may read its last values as one. */
  get bindingBytes(): number {
    return bindingBytes(this.bytes);
  }
  /**
   * Bytes that are bound, of at most `limit`: all of the buffer, so that tensors of other lengths that it holds at other
   * times take the same bind group. Of a window its own.
   */
  boundBytes(limit: number): number {
    return this.owner ? this.bindingBytes : Math.min(this.pooled.size, limit);
  }
}

/**
 * Buffers for tensors, reused by size. A buffer that a queued command still uses can be handed out again at once, since
 * the queue runs in order; only writes from the host have to look at `lastUse`.
 */
export class Memory {
  private readonly pool: BufferPool;
  private readonly scopes: Set<GpuTensor>[] = [];
  /** While something is recorded: tensors freed meanwhile, and all made for it, whose buffers it may use again once freed. */
  private held: { readonly freed: Set<GpuTensor>; readonly made: Set<GpuTensor> } | undefined;
  private liveTensors = 0;
  private liveBytes = 0;
  /** The most bytes that tensors and the copies kept of them took at one time; set it back to begin again. */
  peakBytes = 0;
  private keptBytes = 0;

  constructor(
    private readonly device: GPUDevice,
    /** Throws when the device is gone, so that an operation that fails for it has made no tensor yet. */
    private readonly check: () => void = () => {},
    /** Submits what is encoded and calls `trim` with these bytes, which are about to be made. */
    private readonly makeRoom: (coming: number) => void = () => {},
    private readonly slack: readonly [least: number, most: number] = POOL_SLACK,
  ) {
    const usage = USAGE.storage | USAGE.copySource | USAGE.copyDestination;
    this.pool = new BufferPool((size) => {
      if (this.pool.idleBytes > this.mostIdle(size)) this.makeRoom(size);
      return device.createBuffer({ size, usage });
    }, device.limits.maxBufferSize);
  }

  /** Values are whatever the buffer held before: the caller writes all of them, or zeroes them first. */
  allocate(shape: readonly number[], dtype: GpuType): GpuTensor {
    const tensor = this.create(shape, dtype, false);
    this.liveTensors++;
    this.liveBytes += tensor.bytes;
    this.peakBytes = Math.max(this.peakBytes, this.liveBytes + this.keptBytes);
    this.scopes.at(-1)?.add(tensor);
    return tensor;
  }

  /** A tensor for the backend's own use, which outlives scopes and is not among the live ones. */
  allocateCopy(shape: readonly number[], dtype: GpuType): GpuTensor {
    const tensor = this.create(shape, dtype, true);
    this.keptBytes += tensor.bytes;
    return tensor;
  }

  private create(shape: readonly number[], dtype: GpuType, copy: boolean): GpuTensor {
    this.check();
    const length = elements(shape);
    const bytes = bindingBytes(weightWords(dtype, shape) * 4);
    const { maxBufferSize } = this.device.limits;
    if (bytes > maxBufferSize) {
      throw new Error(
        `A tensor ${dtype} [${shape.join(", ")}] needs ${mebibytes(bytes)} MiB in one buffer, but a buffer of this ` +
          `WebGPU device has at most ${mebibytes(maxBufferSize)} MiB: use smaller packs or a smaller model.`,
      );
    }
    // What no scope will free is there to stay, as weights, gradients and moments are: not a byte more than they need.
    const lasting = this.scopes.length === 0 && bytes >= WORTH_FITTING;
    const pooled = (copy ? undefined : this.takeHeld(bytes)) ?? this.pool.take(bytes, lasting);
    const tensor = new GpuTensor([...shape], dtype, length, pooled, copy);
    tensor.lasting = lasting;
    if (!copy) this.held?.made.add(tensor);
    return tensor;
  }

  free(tensor: GpuTensor): void {
    if (tensor.isWindow) throw new Error("a window on a tensor is not freed: its tensor is");
    if (tensor.freed) return;
    if (this.held) {
      this.held.freed.add(tensor);
      for (const scope of this.scopes) scope.delete(tensor);
      return;
    }
    this.retire(tensor);
    this.pool.giveBack(tensor.pooled, tensor.lasting);
    if (this.liveTensors === 0) this.pool.forgetPeak();
  }

  /** Ends the tensor; the caller decides what becomes of its buffer. */
  private retire(tensor: GpuTensor): void {
    tensor.markFreed();
    for (const t of [tensor, ...tensor.windows.values()]) {
      this.freeCopies(t, "half");
      this.freeCopies(t, "panels");
      if (t.scaling) this.free(t.scaling.scale);
      t.scaling = undefined;
    }
    if (tensor.copy) this.keptBytes -= tensor.bytes;
    else {
      this.liveTensors--;
      this.liveBytes -= tensor.bytes;
    }
    for (const scope of this.scopes) scope.delete(tensor);
  }

  /** The shortest buffer that was freed since the recording began and may serve a tensor of so many bytes. */
  private takeHeld(bytes: number): PooledBuffer | undefined {
    let shortest: GpuTensor | undefined;
    for (const tensor of this.held?.freed ?? []) {
      const { size } = tensor.pooled;
      if (
        this.held?.made.has(tensor) &&
        suits(size, bytes) &&
        size < (shortest?.pooled.size ?? Number.POSITIVE_INFINITY)
      )
        shortest = tensor;
    }
    if (shortest === undefined) return undefined;
    this.held?.freed.delete(shortest);
    this.retire(shortest);
    return shortest.pooled;
  }

  freeCopies(tensor: GpuTensor, format: "half" | "panels"): void {
    const kept = tensor[format];
    if (!kept) return;
    tensor[format] = undefined;
    this.free(kept.values);
    if (!kept.ownScale) this.free(kept.scale);
  }

  scope<R>(work: (keep: (t: GpuTensor) => GpuTensor) => R): R {
    const made = new Set<GpuTensor>();
    this.scopes.push(made);
    const kept: GpuTensor[] = [];
    try {
      const result = work((tensor) => {
        // A tensor from an outer scope stays that scope's.
        if (made.delete(tensor)) kept.push(tensor);
        return tensor;
      });
      if (result instanceof Promise) throw new Error("scope: the work must not be asynchronous");
      return result;
    } catch (error) {
      for (const tensor of kept.splice(0)) made.add(tensor);
      throw error;
    } finally {
      this.scopes.pop();
      for (const tensor of made) this.free(tensor);
      const outer = this.scopes.at(-1);
      if (outer) for (const tensor of kept) outer.add(tensor);
    }
  }

  /** Runs `work`; the buffers of tensors that it frees are nobody else's until the function returned is called. */
  hold(work: () => void): () => void {
    const freed = new Set<GpuTensor>();
    const release = () => {
      for (const tensor of freed) this.free(tensor);
    };
    this.held = { freed, made: new Set() };
    try {
      work();
    } catch (error) {
      this.held = undefined;
      release();
      throw error;
    } finally {
      this.held = undefined;
    }
    return release;
  }

  live(): { tensors: number; bytes: number } {
    return { tensors: this.liveTensors, bytes: this.liveBytes };
  }

  /** Bytes of the copies that the backend keeps of live tensors in another format. */
  get copyBytes(): number {
    return this.keptBytes;
  }

  /** The device is gone, and every tensor with it. */
  reset(): void {
    this.pool.reset();
    this.liveTensors = 0;
    this.liveBytes = 0;
    this.keptBytes = 0;
  }

  describe(): string {
    const kept = this.keptBytes > 0 ? ` and ${mebibytes(this.keptBytes)} MiB of f16 copies` : "";
    return `${this.liveTensors} tensors of ${mebibytes(this.liveBytes)} MiB alive${kept}`;
  }

  /** Begins a new interval of error checking; returns the one that ends. */
  endGeneration(): number {
    return this.pool.endGeneration();
  }

  /** Buffers made up to that interval may be invalid (out of memory): they are never reused. */
  distrust(generation: number): void {
    this.pool.distrust(generation);
  }

  /** Bytes of idle buffers that may be kept where so many more are about to be made. */
  private mostIdle(coming: number): number {
    const { used, recentPeak } = this.pool;
    const peak = Math.max(recentPeak, used + coming);
    const [least, most] = this.slack;
    return peak - used - coming + Math.min(Math.max(least, peak / 2), most);
  }

  /**
   * Destroys idle buffers that nobody wanted for long, and the oldest of those beyond the recent peak and some slack;
   * returns the ids of those that are gone. What a step took is thus there for the next one, and passes of another kind
   * do not add theirs to it. Only right when no encoded command is pending.
   *
   * @param coming bytes about to be made; more is then destroyed than they need, so that the next buffer does not ask again
   */
  trim(coming = 0): ReadonlySet<number> {
    const idle = this.mostIdle(coming);
    return this.pool.trim(coming > 0 ? Math.max(0, idle - this.slack[0] / 2) : idle);
  }
}

/** Bytes that a binding of so many takes: at least one unit of alignment, and whole ones. */
export function bindingBytes(bytes: number): number {
  return Math.max(ALIGNMENT, Math.ceil(bytes / ALIGNMENT) * ALIGNMENT);
}

/** Bytes in MiB, with one digit after the point, without the unit. */
export function mebibytes(bytes: number): string {
  return (bytes / 2 ** 20).toFixed(1);
}
