import type { FloatFormat } from "./number-format.ts";
import type { Tensor } from "./tensor.ts";

/**
 * Weights from a file to a device that brings them to their tensor's format itself. It makes the same words as `packRows`,
 * or leaves values to it. One load at a time uses it.
 */
export interface WeightUpload<T extends Tensor = Tensor> {
  /** Whether so many values, whole rows from row `row` on, can go this way. */
  takes(t: T, row: number, values: number): boolean;
  /** Puts rows as a file stores them into `t` from row `row` on. The bytes are the caller's again once it resolves. */
  write(t: T, row: number, format: FloatFormat, bytes: Uint8Array): Promise<void>;
  /**
   * Whether anything that was written since the last call is left to the host: a value that is not finite or that the
   * format cannot hold, or a group of int8 or int4 whose largest value lies beyond 2^±100. Rejects as `sync` does.
   */
  declined(): Promise<boolean>;
  /** Ends a load: gives back what was held for further writes, and forgets what was declined. */
  release(): void;
}
