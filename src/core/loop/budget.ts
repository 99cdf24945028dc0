/** What a run may take: wall-clock hours, or GPU-hours and money that come to as many at its GPUs and their price. */
import { InputError } from "../errors.ts";

/** `budget` of a training config (docs/training.md). */
export interface BudgetConfig {
  hours?: number | undefined;
  gpu_hours?: number | undefined;
  price?: number | undefined;
  gpus?: number | undefined;
  price_per_gpu_hour?: number | undefined;
}

/** Exit code of `gcopd train` for a run that its budget ended: it is neither done nor failed. */
export const BUDGET_EXIT_CODE = 3;

/** The smallest of what a budget allows, in seconds; infinite where it has no amount. @throws InputError that names the missing key */
export function budgetSeconds(budget: BudgetConfig): number {
  const { hours, gpu_hours: gpuHours, price, gpus, price_per_gpu_hour: perGpuHour } = budget;
  const missing = (key: keyof BudgetConfig, of: string): never => {
    throw new InputError(`missing: ${of} counts only with it`, { key: `budget.${key}` });
  };
  const allowed = hours === undefined ? [] : [hours];
  if (gpuHours !== undefined) allowed.push(gpuHours / (gpus ?? missing("gpus", "gpu_hours")));
  if (price !== undefined)
    allowed.push(
      price / ((gpus ?? missing("gpus", "price")) * (perGpuHour ?? missing("price_per_gpu_hour", "price"))),
    );
  return 3600 * Math.min(...allowed);
}

const hours = (seconds: number): string => Number((seconds / 3600).toPrecision(3)).toString();

/** How much of a budget is spent, both in seconds. */
export const spentWords = ({ seconds, spent }: { seconds: number; spent: number }): string =>
  `${hours(spent)} of ${hours(seconds)} hours are spent`;

/** A budget as the loop keeps it. */
export interface RunBudget {
  /** Seconds that the run may take; infinite where it has no budget, and its time is only reported. */
  seconds: number;
  /** Seconds that the run has taken until now, all its attempts together. */
  spent(): number;
  /** Seconds that steps of earlier attempts took, the newest last. */
  steps?: readonly number[];
}

/** Steps by which the next one is foreseen. */
const RECENT = 10;

/** Foresees whether the next step would pass a budget: it is taken to last as long as the longest of the latest ones. */
export class BudgetWatch {
  readonly #steps: number[];
  /** Seconds of the latest evaluation, and of those since the present batch began. */
  #evaluation = 0;
  #apart = 0;
  #began = 0;

  constructor(private readonly budget: RunBudget) {
    this.#steps = [...(budget.steps ?? [])];
  }

  get seconds(): number {
    return this.budget.seconds;
  }

  /** Seconds until now, all attempts together. */
  spent(): number {
    return this.budget.spent();
  }

  /** A batch begins. */
  begin(): void {
    this.#began = this.spent();
    this.#apart = 0;
  }

  /** It is over, its checkpoint included. */
  end(): void {
    this.#steps.push(this.spent() - this.#began - this.#apart);
  }

  /** Measures the student by `work`, which says whether it did. */
  async evaluation(work: () => Promise<boolean>): Promise<boolean> {
    const began = this.spent();
    const measured = await work();
    const seconds = this.spent() - began;
    this.#apart += seconds;
    if (measured) this.#evaluation = seconds;
    return measured;
  }

  /** @param measures whether the student is measured after the next step */
  wouldPass(measures: boolean): boolean {
    const step = Math.max(0, ...this.#steps.slice(-RECENT));
    const spent = this.spent();
    return spent >= this.seconds || spent + step + (measures ? this.#evaluation : 0) > this.seconds;
  }
}
