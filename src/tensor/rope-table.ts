import type { Backend } from "./backend.ts";
import type { Tensor } from "./tensor.ts";

/**
 * cos and sin of position · theta^(−2i/r), [positions, r/2], for the r numbers of a head that turn. Made on the host in f64, since many devices have poor
 * sines of large angles, and grown when a longer sequence comes.
 */
export class RopeTable {
  #length = 0;
  #tables: { cos: Tensor; sin: Tensor } | null = null;
  /** What had gone wrong on the device before they were made. */
  #fault: Backend["lastFault"];

  constructor(
    private readonly backend: Backend,
    private readonly rotarySize: number,
    private readonly theta: number,
    private readonly maxPositions: number,
  ) {}

  /** Tables of at least `length` positions. Call it outside of a scope: the tables stay. */
  tables(length: number): { cos: Tensor; sin: Tensor } {
    const { lastFault } = this.backend;
    // Those that were made for a pass that failed may not be there.
    if (this.#tables !== null && length <= this.#length && lastFault === this.#fault) return this.#tables;
    this.dispose();
    this.#fault = lastFault;
    this.#length = Math.max(length, Math.min(this.maxPositions, Math.max(256, 2 * length)));
    const half = this.rotarySize / 2;
    const cos = new Float32Array(this.#length * half);
    const sin = new Float32Array(this.#length * half);
    for (let i = 0; i < half; i++) {
      const frequency = this.theta ** (-i / half);
      for (let p = 0; p < this.#length; p++) {
        cos[p * half + i] = Math.cos(p * frequency);
        sin[p * half + i] = Math.sin(p * frequency);
      }
    }
    const shape = [this.#length, half];
    this.#tables = { cos: this.backend.fromArray(cos, shape), sin: this.backend.fromArray(sin, shape) };
    return this.#tables;
  }

  dispose(): void {
    if (this.#tables !== null) this.backend.free(this.#tables.cos, this.#tables.sin);
    this.#tables = null;
    this.#length = 0;
  }
}
