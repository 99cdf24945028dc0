import { seedOf, shuffled } from "../seeded.ts";

/** Where a run stands: the next batch to take. All counts from 0. */
export interface Position {
  stage: number;
  epoch: number;
  batch: number;
}

/**
 * The batches of one epoch: all units, each once, in an order that depends only on (seed, stage, epoch). The last
 * batch is smaller when the batch size does not divide the number of units; none is dropped.
 *
 * @returns places of the units, one array a batch
 */
export function epochBatches(
  units: number,
  batchSize: number,
  seed: number,
  stage: number,
  epoch: number,
): number[][] {
  const order = shuffled(units, seedOf(`epoch|${stage}|${epoch}|${seed}`));
  const batches: number[][] = [];
  for (let start = 0; start < units; start += batchSize) batches.push(order.slice(start, start + batchSize));
  return batches;
}
