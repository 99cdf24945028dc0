import { describe, expect, it } from "vitest";
import { seedOf, shuffled, uniforms } from "../seeded.ts";
import { epochBatches, repeatedTasks } from "./batches.ts";

/** Units of tasks that have so many each. */
const tasksOf = (counts: readonly number[]): string[] =>
  counts.flatMap((count, n) => Array.from({ length: count }, () => `task ${n}`));
const repeats = (tasks: string[], batches: number[][]): number =>
  batches.reduce((sum, batch) => sum + batch.length - new Set(batch.map((unit) => tasks[unit])).size, 0);

describe("batches of an epoch", () => {
  it("are slices of the shuffled order where every task has one unit", () => {
    const tasks = tasksOf(Array(11).fill(1));
    const order = shuffled(11, seedOf("epoch|1|2|42"));
    expect(epochBatches(tasks, 4, 42, 1, 2)).toEqual([order.slice(0, 4), order.slice(4, 8), order.slice(8)]);
  });

  it("hold different tasks where there are enough", () => {
    // Ten tasks of sixteen rollouts each, as a catalogue of them has it: in one order a batch of eight repeats tasks.
    const tasks = tasksOf(Array(10).fill(16));
    const slices = shuffled(160, seedOf("epoch|0|0|42"));
    expect(repeats(tasks, [slices.slice(0, 8)])).toBeGreaterThan(0);
    const batches = epochBatches(tasks, 8, 42, 0, 0);
    expect(batches).toHaveLength(20);
    for (const batch of batches) expect(repeatedTasks(batch, tasks)).toBe(0);
  });

  it("repeat tasks only where there are too few, and say how many", () => {
    const tasks = tasksOf([4, 1, 1]);
    const batches = epochBatches(tasks, 3, 42, 0, 0);
    expect(batches.map((batch) => repeatedTasks(batch, tasks))).toEqual([1, 1]);
    expect(repeats(tasks, batches)).toBe(2);
    expect(repeatedTasks([0, 1, 2, 4], tasks)).toBe(1);
  });

  it("take each unit once, fill all batches but the last, and repeat as few as can be, whatever the counts", () => {
    const uniform = uniforms(5);
    for (let round = 0; round < 400; round += 1) {
      const counts = Array.from(
        { length: 1 + Math.floor(uniform() * 9) },
        () => 1 + Math.floor(uniform() * 7),
      );
      const size = 1 + Math.floor(uniform() * 9);
      const tasks = tasksOf(counts);
      const batches = epochBatches(tasks, size, round, 0, 0);
      const what = JSON.stringify({ counts, size });
      expect(
        batches.flat().sort((a, b) => a - b),
        what,
      ).toEqual(tasks.map((_, n) => n));
      for (const batch of batches.slice(0, -1)) expect(batch, what).toHaveLength(size);
      expect(repeats(tasks, batches), what).toBe(
        fewestRepeats(
          counts,
          batches.map(({ length }) => length),
        ),
      );
    }
  });

  it("are the same for one seed, and others for another seed, epoch or stage", () => {
    const tasks = tasksOf([3, 3, 3, 2, 1, 1]);
    const of = (seed: number, stage: number, epoch: number) => epochBatches(tasks, 4, seed, stage, epoch);
    expect(of(1, 0, 0)).toEqual(of(1, 0, 0));
    for (const other of [of(2, 0, 0), of(1, 1, 0), of(1, 0, 1)]) expect(other).not.toEqual(of(1, 0, 0));
  });
});

/** Gale–Ryser: the most units that can stand in batches of these sizes with no task twice in one, taken from all. */
function fewestRepeats(counts: readonly number[], sizes: readonly number[]): number {
  const units = counts.reduce((sum, count) => sum + count, 0);
  // The greatest flow of a complete bipartite graph with unit edges is its least cut: over k of the batches.
  const descending = [...sizes].sort((a, b) => b - a);
  let most = Number.POSITIVE_INFINITY;
  for (let k = 0; k <= sizes.length; k += 1) {
    const small = descending.slice(k).reduce((sum, size) => sum + size, 0);
    most = Math.min(most, small + counts.reduce((sum, count) => sum + Math.min(count, k), 0));
  }
  return units - most;
}
