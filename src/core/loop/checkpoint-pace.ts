/** When a checkpoint is due in a run that does not say after how many steps. */

/** A student of up to so many parameters is kept after each step. */
const SMALL = 64e6;

/** The share of a run's time that its checkpoints may take. */
const SHARE = 0.1;

/** Of each parameter: the weight and both moments in f32. */
export const BYTES_PER_PARAMETER = 12;

/** What the first checkpoint of a large student is expected to be written with, in bytes per second. */
const EXPECTED_RATE = 5e8;

/**
 * A small student, and one whose size is not known, is kept after each step. A large one is kept by time: when ten times
 * as long has passed since the last checkpoint as that one took, so that checkpoints take a tenth of the run at most.
 */
export class CheckpointPace {
  readonly #now: () => number;
  readonly #always: boolean;
  #last: number;
  /** Milliseconds. */
  #cost: number;

  /** `now`: a clock in milliseconds. */
  constructor(parameters: number | null, now: () => number = () => performance.now()) {
    this.#now = now;
    this.#always = parameters === null || parameters <= SMALL;
    this.#cost = (1000 * (parameters ?? 0) * BYTES_PER_PARAMETER) / EXPECTED_RATE;
    this.#last = now();
  }

  /** Whether the student is kept after each step, and not by time. */
  get everyStep(): boolean {
    return this.#always;
  }

  /** Whether a step that has just ended is to be kept. */
  due(): boolean {
    return this.#always || this.#now() - this.#last >= this.#cost / SHARE;
  }

  /** Runs `save`, and measures it. */
  async saving(save: () => Promise<void>): Promise<void> {
    const began = this.#now();
    await save();
    this.#last = this.#now();
    this.#cost = this.#last - began;
  }
}
