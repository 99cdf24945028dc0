import { expect, it } from "vitest";
import { MiniatureTask } from "./task.ts";

it("covers 55 to 65 % of the tasks of a world with K = 16, and repeats itself", async () => {
  let covered = 0;
  const tasks = Array.from({ length: 96 }, (_, seed) => new MiniatureTask(seed, 1));
  for (const task of tasks) {
    for (let k = 0; k < 16; k++) {
      const { outcome } = await task.source(k, 0.57, { trusted: true });
      if (!outcome.success) continue;
      covered++;
      break;
    }
  }
  expect(covered / tasks.length).toBeGreaterThanOrEqual(0.55);
  expect(covered / tasks.length).toBeLessThanOrEqual(0.65);
  expect(await tasks[0]!.source(3, 0.57)).toEqual(await tasks[0]!.source(3, 0.57));
});

it("gives verified sources, and optimal actions that a replay finds again", async () => {
  const task = new MiniatureTask(7, 2);
  const source = await task.source(0, 0);
  expect(source.outcome).toMatchObject({ verified: true, complete: true, success: true });
  expect(source.decisions.length).toBeLessThanOrEqual(16);
  const optimal = task.optimalOf(source.decisions);
  expect(optimal).toHaveLength(source.decisions.length);
  // From the first sight of the target on, a planner that does not err takes an optimal action.
  const seen = source.decisions.findIndex(({ action }) => action?.startsWith("take"));
  for (let t = seen; t < optimal.length; t++) expect(optimal[t]).toContain(source.decisions[t]!.action);
});
