import { seedOf, shuffled } from "../seeded.ts";

/** How far a run is: the next batch to take. All counts start at 0. */
export interface Position {
  stage: number;
  epoch: number;
  batch: number;
}

/**
 * The batches of one epoch: all units, each once, in an order that depends only on (seed, stage, epoch). The last
 * batch is smaller when the batch size does not divide the number of units; none is dropped.
 *
 * A batch holds different tasks (Table "Common training configuration": a task batch with one rollout per task). Only
 * a task with more units than there are batches, or no room left in the smaller last one, comes more than once in a
 * batch. Where every task has one unit, the batches are slices of the shuffled order.
 *
 * @param tasks [units] the task of each unit
 * @returns places of the units, one array per batch
 */
export function epochBatches(
  tasks: readonly string[],
  batchSize: number,
  seed: number,
  stage: number,
  epoch: number,
): number[][] {
  const units = tasks.length;
  const place = `${stage}|${epoch}|${seed}`;
  const order = shuffled(units, seedOf(`epoch|${place}`));
  const sizes: number[] = [];
  for (let start = 0; start < units; start += batchSize) sizes.push(Math.min(batchSize, units - start));
  const batches = sizes.map((): number[] => []);
  const hasRoom = (batch: number): boolean => batches[batch]!.length < sizes[batch]!;

  // Units of one task are dealt to one batch after the other, the most frequent tasks first: those need the last batch.
  const dealt = unitsByTask(order, tasks)
    .filter(({ length }) => length > 1)
    .sort((a, b) => b.length - a.length)
    .flatMap((of) => of.slice(0, batches.length));
  let open = shuffled(batches.length, seedOf(`deal|${place}`));
  let next = 0;
  for (const unit of dealt) {
    if (next >= open.length) {
      open = open.filter(hasRoom);
      next = 0;
    }
    batches[open[next]!]!.push(unit);
    next += 1;
  }
  // The only unit of a task, and those that must repeat theirs, fill what is left in their order.
  const placed = new Set(dealt);
  let batch = 0;
  for (const unit of order) {
    if (placed.has(unit)) continue;
    while (!hasRoom(batch)) batch += 1;
    batches[batch]!.push(unit);
  }
  return batches;
}

/** How many tasks come more than once in a batch. */
export function repeatedTasks(batch: readonly number[], tasks: readonly string[]): number {
  return unitsByTask(batch, tasks).filter(({ length }) => length > 1).length;
}

/** Tasks in the order of their first units, each with its units in theirs. */
function unitsByTask(units: readonly number[], tasks: readonly string[]): number[][] {
  const groups = new Map<string, number[]>();
  for (const unit of units) {
    const group = groups.get(tasks[unit]!);
    if (group === undefined) groups.set(tasks[unit]!, [unit]);
    else group.push(unit);
  }
  return [...groups.values()];
}
