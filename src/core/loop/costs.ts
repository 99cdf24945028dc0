/** What runs cost: GPU-hours by stage (appendix, "Computational cost details"), as they were measured. */
import type { EngineInfo } from "../ports.ts";

/** In the order of a table. `other`: opening models, checkpoints, and what a kill or a fault lost. */
export const COST_STAGES = [
  ...["teacher training", "collection", "verification"],
  ...["rollout", "scoring", "update", "evaluation", "other"],
] as const;
export type CostStage = (typeof COST_STAGES)[number];

/** Wall-clock seconds of one stage on one kind of device. */
export interface Cost {
  stage: CostStage;
  /** What it was measured on. */
  device: string;
  /** GPUs that were held meanwhile; 0 on a CPU. */
  gpus: number;
  seconds: number;
}

/** A row of the cost table. */
export interface CostRow extends Cost {
  gpu_hours: number;
  /** Null without a price per GPU-hour. */
  price: number | null;
}

/** A device as cost tables name it. */
export const deviceWords = ({ device, adapter }: Pick<EngineInfo, "device" | "adapter">): string =>
  `${device} (${adapter})`;

/** Whether a device, in those words, is no GPU. */
export const isCpu = (device: string): boolean => device.startsWith("cpu ");

/** Costs of one stage and device as one row, in the order of the stages. */
export function costRows(costs: readonly Cost[], pricePerGpuHour?: number): CostRow[] {
  const sums = new Map<string, Cost>();
  for (const cost of costs) {
    const key = JSON.stringify([cost.stage, cost.device, cost.gpus]);
    sums.set(key, { ...cost, seconds: cost.seconds + (sums.get(key)?.seconds ?? 0) });
  }
  return [...sums.values()]
    .sort((a, b) => COST_STAGES.indexOf(a.stage) - COST_STAGES.indexOf(b.stage))
    .map((cost) => {
      const hours = (cost.gpus * cost.seconds) / 3600;
      return {
        ...cost,
        gpu_hours: hours,
        price: pricePerGpuHour === undefined ? null : hours * pricePerGpuHour,
      };
    });
}
