/** A buffer that tensors take turns in. */
export interface PooledBuffer {
  readonly buffer: GPUBuffer;
  /** No other buffer has had it. */
  readonly id: number;
  /** Bytes. */
  readonly size: number;
  /** Which interval between two error checks it was made in. */
  readonly generation: number;
  /** The last submission that uses it (see `Commands`). */
  lastUse: number;
  releasedAt: number;
}

/** An idle buffer that no allocation wanted for this many allocations, those of several packs, goes back to the driver. */
const MOST_AGE = 12_288;
/** An allocation takes an idle buffer up to this many times as long before it makes one of its own. */
const MOST_LONGER = 2.5;

/**
 * Idle buffers, in classes of sizes. Of those that fit, the one that was made first is handed out, whatever order they
 * came back in: passes that allocate the same then get the same buffers, and with them the bind groups made before.
 * Passes that are a little shorter, as the last of a step mostly is, make do with the buffers of the longer ones.
 */
export class BufferPool {
  /** By size; the one made first stands last. */
  private readonly idle = new Map<number, PooledBuffer[]>();
  private clock = 0;
  /** Bytes of the buffers that are handed out, and of the idle ones. */
  used = 0;
  idleBytes = 0;
  /** The most bytes handed out at one time in this period of `MOST_AGE` allocations, and in the one before. */
  private readonly peaks: [number, number] = [0, 0];
  private made = 0;
  private generation = 0;
  private distrusted = -1;
  /** To be destroyed once no encoded command can name them. */
  private readonly doomed: PooledBuffer[] = [];

  /**
   * @param create makes a buffer of so many bytes
   * @param longest bytes of the longest buffer that there may be
   */
  constructor(
    private readonly create: (size: number) => GPUBuffer,
    private readonly longest: number,
  ) {}

  /** A buffer of at least so many bytes, or of exactly so many, with whatever values it held before. */
  take(bytes: number, exact = false): PooledBuffer {
    if (++this.clock % MOST_AGE === 0) {
      this.peaks[1] = this.peaks[0];
      this.peaks[0] = this.used;
    }
    const taken = this.find(bytes, exact);
    this.used += taken.size;
    this.peaks[0] = Math.max(this.peaks[0], this.used);
    return taken;
  }

  /** What was handed out before says nothing about what comes. */
  forgetPeak(): void {
    this.peaks.fill(0);
  }

  /** The most bytes that were handed out at one time of late. */
  get recentPeak(): number {
    return Math.max(...this.peaks);
  }

  private find(bytes: number, exact: boolean): PooledBuffer {
    const size = exact ? bytes : Math.min(classOf(bytes), this.longest);
    const most = exact ? size : MOST_LONGER * size;
    for (let longer = size; longer <= most; longer = classOf(longer + 1)) {
      const found = this.idle.get(longer)?.pop();
      if (found) {
        this.idleBytes -= found.size;
        return found;
      }
    }
    const buffer = this.create(size);
    return { buffer, id: this.made++, size, generation: this.generation, lastUse: -1, releasedAt: 0 };
  }

  /** `lasting`: it held what stays from pass to pass, such as weights; the recent peak falls with it. */
  giveBack(pooled: PooledBuffer, lasting = false): void {
    this.used -= pooled.size;
    if (lasting) for (const i of [0, 1]) this.peaks[i] = Math.max(this.used, this.peaks[i]! - pooled.size);
    if (pooled.generation <= this.distrusted) {
      this.doomed.push(pooled);
      return;
    }
    this.idleBytes += pooled.size;
    pooled.releasedAt = this.clock;
    const list = this.idle.get(pooled.size);
    if (!list) {
      this.idle.set(pooled.size, [pooled]);
      return;
    }
    let [from, to] = [0, list.length];
    while (from < to) {
      const middle = (from + to) >> 1;
      if (list[middle]!.id > pooled.id) from = middle + 1;
      else to = middle;
    }
    list.splice(from, 0, pooled);
  }

  /** The device is gone, and every buffer with it. */
  reset(): void {
    this.idle.clear();
    this.used = this.idleBytes = 0;
    this.forgetPeak();
  }

  /** Begins a new interval of error checking; returns the one that ends. */
  endGeneration(): number {
    return this.generation++;
  }

  /** Buffers made up to that interval may be invalid (out of memory): they are never reused. */
  distrust(generation: number): void {
    this.distrusted = Math.max(this.distrusted, generation);
    for (const list of this.idle.values()) this.doomed.push(...list);
    this.idle.clear();
    this.idleBytes = 0;
    // It was more than there is.
    this.forgetPeak();
  }

  /**
   * Destroys idle buffers that have not been wanted for long, and of the others, beyond so many bytes in all, those
   * released longest ago. Returns the ids of those that are gone. Only right when no encoded command is pending.
   */
  trim(mostBytes: number): ReadonlySet<number> {
    const gone = new Set(this.doomed.splice(0));
    const kept: PooledBuffer[] = [];
    for (const entry of [...this.idle.values()].flat())
      if (this.clock - entry.releasedAt < MOST_AGE) kept.push(entry);
      else gone.add(entry);
    let bytes = kept.reduce((sum, { size }) => sum + size, 0);
    if (bytes > mostBytes)
      for (const entry of kept.sort((a, b) => a.releasedAt - b.releasedAt)) {
        if (bytes <= mostBytes) break;
        bytes -= entry.size;
        gone.add(entry);
      }
    this.idleBytes = bytes;
    if (gone.size === 0) return new Set();
    for (const [size, list] of this.idle) {
      const left = list.filter((entry) => !gone.has(entry));
      if (left.length > 0) this.idle.set(size, left);
      else this.idle.delete(size);
    }
    for (const { buffer } of gone) buffer.destroy();
    return new Set([...gone].map(({ id }) => id));
  }
}

/** Whether a buffer of that size serves an allocation of so many bytes without being much longer. */
export function suits(size: number, bytes: number): boolean {
  return size >= bytes && size <= MOST_LONGER * classOf(bytes);
}

/** Rounds up in four steps an octave, so that packs of different length share buffers (at most a quarter is unused). */
function classOf(bytes: number): number {
  const step = Math.max(256, 2 ** (Math.floor(Math.log2(bytes)) - 2));
  return Math.ceil(bytes / step) * step;
}
