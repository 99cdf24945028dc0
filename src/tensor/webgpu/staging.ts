import { type DeviceHealth, USAGE } from "./device.ts";
import type { Memory } from "./memory.ts";

const ALIGNMENT = 16;

/** Buffers that are mapped for the host, between it and a device: kept from one use to the next until `release`. */
export class StagingBuffers {
  readonly #idle: GPUBuffer[] = [];
  readonly #made = new Set<GPUBuffer>();
  readonly #usage: GPUBufferUsageFlags;

  constructor(
    private readonly device: GPUDevice,
    private readonly memory: Memory,
    private readonly health: DeviceHealth,
    kind: "read" | "write",
    /** So many of a size take turns, so that one need not wait for what the device still does with the one before. */
    private readonly turns = 1,
  ) {
    this.#usage = kind === "read" ? USAGE.mapRead | USAGE.copyDestination : USAGE.mapWrite | USAGE.copySource;
  }

  /** Runs `work` with one of at least so many bytes, not mapped; it is kept afterwards, and destroyed after an error. */
  async use(bytes: number, work: (buffer: GPUBuffer) => Promise<void>): Promise<void> {
    this.health.check();
    const buffer = this.#take(Math.ceil(bytes / ALIGNMENT) * ALIGNMENT);
    try {
      await work(buffer);
    } catch (error) {
      this.#destroy(buffer);
      // A buffer that could not be made fails when it is mapped: the first error tells why.
      const generation = this.memory.endGeneration();
      const found = await this.health.errors();
      if (found !== undefined) this.memory.distrust(generation);
      throw found ?? error;
    }
    this.#idle.push(buffer);
  }

  release(): void {
    for (const buffer of this.#idle.splice(0)) this.#destroy(buffer);
  }

  #take(size: number): GPUBuffer {
    const fitting = [...this.#made].filter((buffer) => buffer.size >= size).length;
    const place = fitting < this.turns ? -1 : this.#idle.findIndex((buffer) => buffer.size >= size);
    if (place >= 0) return this.#idle.splice(place, 1)[0]!;
    const buffer = this.device.createBuffer({ size, usage: this.#usage });
    this.#made.add(buffer);
    return buffer;
  }

  #destroy(buffer: GPUBuffer): void {
    this.#made.delete(buffer);
    buffer.destroy();
  }
}
