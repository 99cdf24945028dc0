import type { Tensor } from "../backend.ts";
import { elements } from "../shapes.ts";
import { USAGE } from "./device.ts";

const ALIGNMENT = 16;
/** A pooled buffer that no allocation wanted for this many allocations is given back to the driver. */
const POOL_AGE = 4096;

/** A tensor on the device. `bytes` is its data; the buffer behind it may be longer. */
export class GpuTensor implements Tensor {
  freed = false;
  /** Of a u32 tensor: the largest value the host wrote, so that ids and rows out of range are refused. */
  largest = 0;
  constructor(
    public shape: readonly number[],
    readonly dtype: "f32" | "u32",
    readonly length: number,
    readonly pooled: PooledBuffer,
  ) {}

  get buffer(): GPUBuffer {
    return this.pooled.buffer;
  }
  /** Bytes of data, 4 a value. */
  get bytes(): number {
    return this.length * 4;
  }
  /** Bytes bound in a kernel: whole vec4s, so that a kernel may read its last values as one. */
  get bindingBytes(): number {
    return bindingBytes(this.length);
  }
}

export interface PooledBuffer {
  readonly buffer: GPUBuffer;
  readonly size: number;
  /** Which interval between two error checks it was made in. */
  readonly generation: number;
  /** The last submission that uses it (see `Commands`). */
  lastUse: number;
  releasedAt: number;
}

/**
 * Buffers for tensors, reused by size. A buffer that a queued command still uses can be handed out again at once, since
 * the queue runs in order; only writes from the host have to look at `lastUse`.
 */
export class Memory {
  private readonly pool = new Map<number, PooledBuffer[]>();
  private readonly scopes: Set<GpuTensor>[] = [];
  private clock = 0;
  private liveTensors = 0;
  private liveBytes = 0;
  private generation = 0;
  private distrusted = -1;
  /** To be destroyed once no encoded command can name them. */
  private readonly doomed: GPUBuffer[] = [];

  constructor(private readonly device: GPUDevice) {}

  /** Values are whatever the buffer held before: the caller writes all of them, or zeroes them first. */
  allocate(shape: readonly number[], dtype: "f32" | "u32"): GpuTensor {
    const length = elements(shape);
    const size = roundUp(bindingBytes(length));
    const { maxStorageBufferBindingSize, maxBufferSize } = this.device.limits;
    const most = Math.min(maxStorageBufferBindingSize, maxBufferSize);
    if (bindingBytes(length) > most) {
      throw new Error(
        `A tensor [${shape.join(", ")}] needs ${mebibytes(length * 4)} MiB in one buffer, but this WebGPU device ` +
          `binds at most ${mebibytes(most)} MiB: use smaller packs or a smaller model.`,
      );
    }
    const pooled = this.pool.get(size)?.pop() ?? this.create(Math.min(size, maxBufferSize), size);
    this.clock++;
    const tensor = new GpuTensor([...shape], dtype, length, pooled);
    this.liveTensors++;
    this.liveBytes += tensor.bytes;
    this.scopes.at(-1)?.add(tensor);
    return tensor;
  }

  free(tensor: GpuTensor): void {
    if (tensor.freed) return;
    tensor.freed = true;
    this.liveTensors--;
    this.liveBytes -= tensor.bytes;
    for (const scope of this.scopes) scope.delete(tensor);
    const { pooled } = tensor;
    if (pooled.generation <= this.distrusted) {
      this.doomed.push(pooled.buffer);
      return;
    }
    pooled.releasedAt = this.clock;
    const list = this.pool.get(pooled.size);
    if (list) list.push(pooled);
    else this.pool.set(pooled.size, [pooled]);
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

  live(): { tensors: number; bytes: number } {
    return { tensors: this.liveTensors, bytes: this.liveBytes };
  }

  /** The device is gone, and every tensor with it. */
  reset(): void {
    this.pool.clear();
    this.liveTensors = 0;
    this.liveBytes = 0;
  }

  describe(): string {
    return `${this.liveTensors} tensors of ${mebibytes(this.liveBytes)} MiB alive`;
  }

  /** Begins a new interval of error checking; returns the one that ends. */
  endGeneration(): number {
    return this.generation++;
  }

  /** Buffers made up to that interval may be invalid (out of memory): they are never reused. */
  distrust(generation: number): void {
    this.distrusted = Math.max(this.distrusted, generation);
    for (const list of this.pool.values()) for (const { buffer } of list) this.doomed.push(buffer);
    this.pool.clear();
  }

  /** Gives back buffers that have not been reused for long. Only right when no encoded command is pending. */
  trim(): void {
    for (const buffer of this.doomed.splice(0)) buffer.destroy();
    for (const [size, list] of this.pool) {
      const young = list.filter((entry) => {
        const keep = this.clock - entry.releasedAt < POOL_AGE;
        if (!keep) entry.buffer.destroy();
        return keep;
      });
      if (young.length > 0) this.pool.set(size, young);
      else this.pool.delete(size);
    }
  }

  private create(bytes: number, size: number): PooledBuffer {
    const buffer = this.device.createBuffer({
      size: bytes,
      usage: USAGE.storage | USAGE.copySource | USAGE.copyDestination,
    });
    return { buffer, size, generation: this.generation, lastUse: -1, releasedAt: 0 };
  }
}

export function bindingBytes(length: number): number {
  return Math.max(ALIGNMENT, Math.ceil((length * 4) / ALIGNMENT) * ALIGNMENT);
}

/** Rounds up in eight steps an octave, so that packs of slightly different length share buffers (at most 12.5 % waste). */
function roundUp(bytes: number): number {
  const step = Math.max(256, 2 ** (Math.floor(Math.log2(bytes)) - 3));
  return Math.ceil(bytes / step) * step;
}

export function mebibytes(bytes: number): string {
  return (bytes / 2 ** 20).toFixed(1);
}
