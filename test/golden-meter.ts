import type { FolderReader } from "../src/core/ports.ts";
import type { Backend } from "../src/tensor/backend.ts";
import { LanguageModel } from "../src/tensor/index.ts";

export interface Goldens {
  backend: Backend;
  /** Opens a folder of fixtures/models, such as `qwen3-a` or `goldens/qwen3-a`. */
  open(folder: string): FolderReader;
}

/** Largest deviation of each kind of value. */
export type Deviations = Record<string, number>;

/** Tolerances of the fixtures' README. */
export const LOGPROB = 2e-4;
export const LOGIT = 5e-4;

/** Remembers the largest deviation of each kind and throws beyond the tolerance. */
export class Meter {
  readonly worst: Deviations = {};

  within(kind: string, deviation: number, tolerance: number, where: string): void {
    if (!(deviation <= tolerance))
      throw new Error(`${where}: ${kind} is off by ${deviation}, tolerance ${tolerance}`);
    this.worst[kind] = Math.max(this.worst[kind] ?? 0, deviation);
  }

  /** Every element of `actual` within an absolute tolerance. */
  all(
    kind: string,
    actual: ArrayLike<number>,
    expected: ArrayLike<number>,
    tolerance: number,
    where: string,
  ): void {
    if (actual.length !== expected.length)
      throw new Error(`${where}: ${actual.length} values, expected ${expected.length}`);
    for (let i = 0; i < expected.length; i++)
      this.within(kind, Math.abs(actual[i]! - expected[i]!), tolerance, `${where}[${i}]`);
  }

  /** Relative L2 distance, and each element by the tensor's largest. */
  gradient(actual: ArrayLike<number>, expected: ArrayLike<number>, where: string): void {
    if (actual.length !== expected.length)
      throw new Error(`${where}: ${actual.length} values, expected ${expected.length}`);
    let [distance, size, largest, off] = [0, 0, 0, 0];
    for (let i = 0; i < expected.length; i++) {
      const difference = actual[i]! - expected[i]!;
      distance += difference * difference;
      size += expected[i]! * expected[i]!;
      largest = Math.max(largest, Math.abs(expected[i]!));
      off = Math.max(off, Math.abs(difference));
    }
    this.within("gradient, relative L2", Math.sqrt(distance / size), 1e-3, where);
    this.within("gradient, by the largest", off / largest, 1e-3, where);
  }
}

export async function withModel<R>(
  { backend, open }: Goldens,
  folder: string,
  work: (model: LanguageModel) => Promise<R>,
): Promise<R> {
  const model = await LanguageModel.load(backend, open(folder));
  try {
    return await work(model);
  } finally {
    model.dispose();
  }
}
