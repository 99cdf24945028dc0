/** What the models may take and will take: how the teacher is kept, the user's limit, and the plan of the next workload. */

import { create } from "zustand";
import { InputError } from "../../../core/errors.ts";
import type { MemoryPlan, WeightChoice } from "../../../tensor/index.ts";
import { describeFault, isAbort } from "../../base/faults.ts";
import { Latest } from "../../base/latest.ts";
import type { ModelsPlan, ModelsWorkload } from "../worker/compute-service.ts";

/** The plan of a workload as it is shown; `problem` says why it would be refused, or why there is none. */
export interface ShownPlan {
  counting: boolean;
  plan: MemoryPlan | null;
  problem: string | null;
  /** What the plan does not count, a sentence each. */
  uncounted: readonly string[];
}

const NONE: ShownPlan = { counting: false, plan: null, problem: null, uncounted: [] };

export type Workload = ModelsWorkload["kind"];

interface MemoryState {
  /** How the matrices of the teacher are kept on the device. */
  weights: WeightChoice;
  /** GiB that the models may take together, valid or not; null: no limit. */
  limitGib: number | null;
  plans: Record<Workload, ShownPlan>;
  /** Passes as the last accepted plan cut them; models are opened with these. */
  passes: ModelsPlan["passes"];
}

export const useMemory = create<MemoryState>(() => ({
  weights: "f32",
  limitGib: null,
  plans: { score: NONE, train: NONE },
  passes: {},
}));

export const memory = useMemory.getState;

/** Takes the limit as it was typed, in GiB; empty is none. */
export function setMemoryLimit(text: string): void {
  useMemory.setState({ limitGib: text.trim() === "" ? null : Number(text) });
}

/** What is wrong with a limit, as the schema of a config says it; null where nothing is. */
export const limitProblem = (limitGib: number | null): string | null =>
  limitGib === null || limitGib > 0 ? null : `expected more than 0, received ${limitGib}`;

/**
 * Bytes that the models may take together; null: no limit.
 *
 * @throws InputError for a limit that is not valid
 */
export function memoryLimit(): number | null {
  const { limitGib } = memory();
  const problem = limitProblem(limitGib);
  if (problem !== null) throw new InputError(problem, { key: "Memory limit" });
  return limitGib === null ? null : limitGib * 2 ** 30;
}

const questions: Record<Workload, Latest> = { score: new Latest(), train: new Latest() };

function show(workload: Workload, shown: ShownPlan): void {
  useMemory.setState(({ plans }) => ({ plans: { ...plans, [workload]: shown } }));
}

const shownPlan = ({ plan, problem, uncounted }: ModelsPlan): ShownPlan => ({
  counting: false,
  plan,
  problem,
  uncounted,
});

/**
 * Shows what a workload will need. Faults are shown in its place; an answer that is overtaken by a later question is not.
 *
 * @param plan is told whether anyone still waits for it
 */
export async function showPlan(
  workload: Workload,
  plan: (isLatest: () => boolean) => Promise<ModelsPlan | null>,
): Promise<void> {
  const isLatest = questions[workload].begin();
  show(workload, { ...memory().plans[workload], counting: true });
  try {
    const found = await plan(isLatest);
    if (!isLatest()) return;
    show(workload, found === null ? NONE : shownPlan(found));
  } catch (error) {
    if (!isLatest() || isAbort(error)) return;
    show(workload, { ...NONE, problem: describeFault(error) });
  }
}

/** Why the workload would be refused, by its plan; null where it fits, and where no plan is known. */
export function refusal(workload: Workload, { plans }: MemoryState = memory()): string | null {
  const { plan, problem } = plans[workload];
  return plan === null ? null : problem;
}

/** While a plan is not shown, nothing counts it again: what it refused may fit by then. */
export function leavePlan(workload: Workload): void {
  questions[workload].end();
  show(workload, { ...memory().plans[workload], counting: false, problem: null });
}

/**
 * Plans a workload that is about to start.
 *
 * @throws InputError with the plan's numbers, where they are beyond the limit
 */
export async function requirePlan(
  workload: Workload,
  plan: () => Promise<ModelsPlan>,
): Promise<ModelsPlan["passes"]> {
  questions[workload].end();
  const found = await plan();
  show(workload, shownPlan(found));
  if (found.problem !== null) throw new InputError(found.problem);
  useMemory.setState({ passes: found.passes });
  return found.passes;
}
