import { beforeEach, expect, it } from "vitest";
import { Pending } from "../../../../test/support/fake.ts";
import { InputError } from "../../../core/errors.ts";
import type { ModelsPlan } from "../worker/compute-service.ts";
import {
  leavePlan,
  limitProblem,
  memory,
  memoryLimit,
  refusal,
  requirePlan,
  setMemoryLimit,
  showPlan,
  useMemory,
} from "./memory.ts";

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
  let isWaitedFor: (() => boolean) | undefined;
  const shown = showPlan("score", (isLatest) => {
    isWaitedFor = isLatest;
    return asked.promise;
  });
  expect(isWaitedFor!()).toBe(true);
  await requirePlan("score", async () => plan("accepted"));
  expect(isWaitedFor!()).toBe(false);
  asked.resolve(plan("asked"));
  await shown;
  expect(memory().plans.score.uncounted).toEqual(["accepted"]);
  const refused = requirePlan("score", async () => plan("no", "9 GiB are needed, and the limit is 8 GiB"));
  await expect(refused).rejects.toThrow(InputError);
  expect(memory().plans.score.problem).toContain("9 GiB");
  expect(memory().passes).toEqual(plan("accepted").passes);
});

it("a plan beyond the limit refuses its job until it is counted again or left; a fault of the counting does not", async () => {
  await showPlan("train", async () => plan("large", "9 GiB are needed"));
  expect([refusal("train"), refusal("score")]).toEqual(["9 GiB are needed", null]);
  const late = new Pending<ModelsPlan>();
  const counting = showPlan("train", () => late.promise);
  expect(refusal("train")).toBe("9 GiB are needed");
  leavePlan("train");
  late.resolve(plan("late", "10 GiB are needed"));
  await counting;
  expect([refusal("train"), memory().plans.train.counting]).toEqual([null, false]);
  await showPlan("train", () => Promise.reject(new InputError("no student")));
  expect(refusal("train")).toBeNull();
});

it("a limit is a number above 0, or none", () => {
  setMemoryLimit("0.5");
  expect([limitProblem(memory().limitGib), memoryLimit()]).toEqual([null, 2 ** 29]);
  setMemoryLimit("");
  expect([limitProblem(memory().limitGib), memoryLimit()]).toEqual([null, null]);
  setMemoryLimit("-3");
  expect(limitProblem(memory().limitGib)).toBe("expected more than 0, received -3");
  expect(memoryLimit).toThrow("Memory limit: expected more than 0, received -3");
});
