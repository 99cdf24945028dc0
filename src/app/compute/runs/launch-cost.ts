/** What a run on a target will cost, as far as it is known: nothing is guessed. */
import type { Range } from "../../base/eta.ts";
import type { Run } from "./run.ts";
import { timeLeft } from "./run-time.ts";
import type { Target, WorkerPlan } from "./worker-answers.ts";

/** GPU-hours of a run and their price; null where its time, the target's GPUs or the user's price is not known. */
export function gpuCost(
  seconds: Range | null,
  { gpus, price_per_gpu_hour: price }: Pick<Target, "gpus" | "price_per_gpu_hour">,
): { gpuHours: Range | null; price: Range | null } {
  const times = (range: Range | null, factor: number | undefined): Range | null =>
    range === null || factor === undefined ? null : { low: range.low * factor, high: range.high * factor };
  const gpuHours = times(seconds, gpus === undefined ? undefined : gpus / 3600);
  return { gpuHours, price: times(gpuHours, price) };
}

/** The same for what is left of a launched run, from the steps that it took; null where it does not go on. */
export function costToCome({
  state,
  figures,
  launched,
}: Pick<Run, "state" | "figures" | "launched">): ReturnType<typeof gpuCost> {
  const { gpus, price_per_gpu_hour: price } = launched ?? {};
  return gpuCost(state === "running" ? timeLeft(figures) : null, {
    ...(gpus == null ? {} : { gpus }),
    ...(price == null ? {} : { price_per_gpu_hour: price }),
  });
}

/** "1.20", "1.20 to 2.40", or "at least 1.20". */
export function amountText({ low, high }: Range, digits: number): string {
  const [from, to] = [low.toFixed(digits), high.toFixed(digits)];
  if (!Number.isFinite(high)) return `at least ${from}`;
  return from === to ? from : `${from} to ${to}`;
}

/**
 * Bytes of the checkpoints that are kept, of one that is being written, and of the student at the end: twelve for each
 * parameter, which are its weight and the two moments of AdamW. Null where the plan has no optimizer.
 */
export function diskBytes({ items }: Pick<WorkerPlan, "items">, kept: number): number | null {
  const moments = items.find(({ name }) => name.endsWith("optimizer state"));
  return moments === undefined ? null : (kept + 2) * 1.5 * moments.bytes;
}
