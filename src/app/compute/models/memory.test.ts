import { beforeEach, expect, it } from "vitest";
import { Pending } from "../../../../test/support/fake.ts";
import { InputError } from "../../../core/errors.ts";
import type { ModelsPlan } from "../worker/compute-service.ts";
import { memory, requirePlan, showPlan, useMemory } from "./memory.ts";

const largest = { name: "w", part: "weights", bytes: 0 } as const;

/** A plan that is told from others by what it leaves out. */
const plan = (name: string, problem: string | null = null): ModelsPlan => ({
  ...{ plan: { items: [], total: 0, largest }, problem, uncounted: [name] },
  passes: { teacher: { packTokens: name.length } },
});

beforeEach(() => useMemory.setState(useMemory.getInitialState()));

it("of two questions the later one is shown, whichever is answered last; the other job's plan stays", async () => {
  const [first, second] = [new Pending<ModelsPlan>(), new Pending<ModelsPlan>()];
  const shown = [showPlan("score", () => first.promise), showPlan("score", () => second.promise)];
  second.resolve(plan("second"));
  first.resolve(plan("first"));
  await Promise.all(shown);
  expect(memory().plans.score).toMatchObject({ counting: false, uncounted: ["second"] });
  expect(memory().plans.train.uncounted).toEqual([]);
});

it("a fault is shown in the plan's place, but not one that a later question has overtaken", async () => {
  const late = new Pending<ModelsPlan>();
  const overtaken = showPlan("train", () => late.promise);
  await showPlan("train", () => Promise.reject(new InputError("no student")));
  expect(memory().plans.train).toMatchObject({ counting: false, plan: null, problem: "no student" });
  await showPlan("train", async () => plan("train"));
  late.reject(new InputError("late"));
  await overtaken;
  expect(memory().plans.train).toMatchObject({ problem: null, uncounted: ["train"] });
});

it("a job that starts overtakes what was asked; one that is refused leaves the passes of the last accepted", async () => {
  const asked = new Pending<ModelsPlan>();
  const shown = showPlan("score", () => asked.promise);
  await requirePlan("score", async () => plan("accepted"));
  asked.resolve(plan("asked"));
  await shown;
  expect(memory().plans.score.uncounted).toEqual(["accepted"]);
  const refused = requirePlan("score", async () => plan("no", "9 GiB are needed, and the limit is 8 GiB"));
  await expect(refused).rejects.toThrow(InputError);
  expect(memory().plans.score.problem).toContain("9 GiB");
  expect(memory().passes).toEqual(plan("accepted").passes);
});
