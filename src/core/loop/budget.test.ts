import { describe, expect, it } from "vitest";
import { MemoryStore } from "../../../test/support/toy-model.ts";
import { of, options } from "../../../test/support/toy-training.ts";
import { BudgetWatch, budgetSeconds } from "./budget.ts";
import { type TrainOptions, train } from "./train.ts";

/** A run whose steps take ten seconds each by its own clock, from `spent` on. */
function timed(seconds: number, given: Partial<TrainOptions>, spent = 0, steps: number[] = []) {
  let now = spent;
  const run = options({ ...given, budget: { seconds, spent: () => now, steps } });
  const { onEvent } = run;
  return {
    ...run,
    onEvent: async (event: Parameters<NonNullable<typeof onEvent>>[0]) => {
      if (event.type === "updated") now += 10;
      await onEvent?.(event);
    },
  };
}

const metrics = (run: ReturnType<typeof options>) => of(run.events, "updated").map((event) => event.metrics);

describe("a budget", () => {
  it("ends a run before the step that would pass it, and with a larger one the run goes on to the same numbers", async () => {
    const whole = options();
    await train(whole);
    const checkpoints = new MemoryStore();
    // A checkpoint would only be due after the third step.
    const first = timed(25, { checkpoints, checkpointEvery: 3 });
    expect(await train(first)).toMatchObject({ step: 2, finished: false, overBudget: true });
    expect(first.events.at(-1)).toMatchObject({
      ...{ type: "stopped", step: 2, steps: 6 },
      budget: { seconds: 25, spent: 20 },
    });
    expect(of(first.events, "checkpoint").map(({ step }) => step)).toEqual([2]);
    // The steps before are known: within the same budget none is taken.
    const again = timed(25, { checkpoints }, 20, [10, 10]);
    expect(await train(again)).toMatchObject({ step: 2, overBudget: true });
    expect(of(again.events, "step")).toEqual([]);
    const rest = timed(60, { checkpoints }, 20, [10, 10]);
    expect(await train(rest)).toMatchObject({ step: 6, finished: true, overBudget: false });
    expect(of(rest.events, "start")).toMatchObject([{ spent: 20, resumedFrom: 2 }]);
    expect([...metrics(first), ...metrics(rest)]).toEqual(metrics(whole));
  });

  it("foresees by the longest of the latest steps, and one that is spent takes no step", async () => {
    const slow = timed(45, {}, 0, [30, ...Array<number>(10).fill(10)]);
    expect(await train(slow)).toMatchObject({ step: 4, overBudget: true });
    const later = timed(45, {}, 0, [10, 30]);
    expect(await train(later)).toMatchObject({ step: 2, overBudget: true });
    expect(await train(timed(45, {}, 45))).toMatchObject({ step: 0, overBudget: true });
  });

  it("counts an evaluation apart, and foresees it where it is due", async () => {
    let now = 0;
    const watch = new BudgetWatch({ seconds: 100, spent: () => now });
    watch.begin();
    now += 10;
    await watch.evaluation(async () => {
      now += 50;
      return true;
    });
    watch.end();
    now = 85;
    expect(watch.wouldPass(false)).toBe(false);
    expect(watch.wouldPass(true)).toBe(true);
    now = 91;
    expect(watch.wouldPass(false)).toBe(true);
  });

  it("is the smallest of hours, GPU-hours and price, and names what it lacks", () => {
    expect(budgetSeconds({ hours: 2 })).toBe(7200);
    expect(budgetSeconds({ hours: 2, gpu_hours: 2, gpus: 4 })).toBe(1800);
    expect(budgetSeconds({ price: 6, gpus: 2, price_per_gpu_hour: 3 })).toBe(3600);
    expect(budgetSeconds({ gpus: 2 })).toBe(Number.POSITIVE_INFINITY);
    expect(() => budgetSeconds({ gpu_hours: 1 })).toThrow(
      "budget.gpus: missing: gpu_hours counts only with it",
    );
    expect(() => budgetSeconds({ price: 1, gpus: 1 })).toThrow("budget.price_per_gpu_hour: missing");
  });
});
