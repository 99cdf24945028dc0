import { MAP_READ, USAGE } from "./device.ts";

/** What the dispatches of one kernel took on the device. */
export interface KernelTime {
  entry: string;
  dispatches: number;
  milliseconds: number;
  /** Floating-point operations, as the dispatches counted them. */
  operations: number;
}

interface Dispatched {
  entry: string;
  work: number;
}

const QUERY_RESOLVE = 0x0200;
/** Dispatches between two submissions that are timed. */
export const MOST_TIMED = 512;

/**
 * Times every dispatch between `start` and `stop` by timestamps around a pass of its own. Dispatches no longer overlap
 * then, so the whole is slower than without; the shares are what it is for. Or times whole passes, which they do not slow.
 */
export class Profile {
  /** What has timestamps: every dispatch in a pass of its own, or passes as they come. */
  recording: "dispatches" | "passes" | null = null;
  private queries: GPUQuerySet | undefined;
  private resolved: GPUBuffer | undefined;
  private timed: Dispatched[] = [];
  private readonly batches: { staging: GPUBuffer; timed: Dispatched[] }[] = [];

  constructor(private readonly device: GPUDevice) {}

  start(what: "dispatches" | "passes" = "dispatches"): void {
    if (!this.device.features.has("timestamp-query"))
      throw new Error("this WebGPU device has no timestamp queries");
    this.queries ??= this.device.createQuerySet({ type: "timestamp", count: 2 * MOST_TIMED });
    this.resolved ??= this.device.createBuffer({
      size: 16 * MOST_TIMED,
      usage: QUERY_RESOLVE | USAGE.copySource,
    });
    this.recording = what;
  }

  /** Somebody is timing, or has yet to read what was timed. */
  get active(): boolean {
    return this.recording !== null || this.batches.length > 0;
  }

  /** Ends what `start` began and drops what was timed. */
  cancel(): void {
    this.recording = null;
    this.timed = [];
    for (const { staging } of this.batches.splice(0)) staging.destroy();
  }

  get full(): boolean {
    return this.timed.length === MOST_TIMED;
  }

  /** For one pass. */
  next(entry: string, work: number): GPUComputePassTimestampWrites {
    const at = 2 * this.timed.length;
    this.timed.push({ entry, work });
    return { querySet: this.queries!, beginningOfPassWriteIndex: at, endOfPassWriteIndex: at + 1 };
  }

  /** Called before an encoder is finished. */
  resolve(encoder: GPUCommandEncoder): void {
    const { timed, queries, resolved } = this;
    if (timed.length === 0 || !queries || !resolved) return;
    const size = 16 * timed.length;
    const staging = this.device.createBuffer({ size, usage: USAGE.copyDestination | USAGE.mapRead });
    encoder.resolveQuerySet(queries, 0, 2 * timed.length, resolved, 0);
    encoder.copyBufferToBuffer(resolved, 0, staging, 0, size);
    this.batches.push({ staging, timed });
    this.timed = [];
  }

  /** Times since `start`, the longest first. Everything must have been submitted. */
  async stop(): Promise<KernelTime[]> {
    this.recording = null;
    const times = new Map<string, KernelTime>();
    for (const { staging, timed } of this.batches.splice(0)) {
      await staging.mapAsync(MAP_READ);
      const stamps = new BigUint64Array(staging.getMappedRange());
      for (const [i, { entry, work }] of timed.entries()) {
        const time = times.get(entry) ?? { entry, dispatches: 0, milliseconds: 0, operations: 0 };
        time.dispatches++;
        time.milliseconds += Number(stamps[2 * i + 1]! - stamps[2 * i]!) / 1e6;
        time.operations += work;
        times.set(entry, time);
      }
      staging.destroy();
    }
    this.queries?.destroy();
    this.resolved?.destroy();
    this.queries = undefined;
    this.resolved = undefined;
    return [...times.values()].sort((a, b) => b.milliseconds - a.milliseconds);
  }
}
