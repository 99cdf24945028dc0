/** What a run on the worker will cost, as the worker measures it. */
import { create } from "zustand";
import { describeFault, isAbort } from "../../base/faults.ts";
import type { PlannedThere, WorkerPlan } from "../runs/worker-answers.ts";
import { composeConfig } from "./training-config.ts";
import { trainingForm } from "./training-form.ts";
import { probeKey } from "./training-probe.ts";
import { planOnTarget, planOnWorker } from "./worker-training.ts";

interface WorkerCostState {
  /** The config that plan and problem are of. */
  of: string;
  plan: WorkerPlan | null;
  /** What the target measured itself. */
  there: PlannedThere;
  problem: string | null;
  /** What is being done, in words; null while nothing is. */
  doing: string | null;
}

const NOTHING: WorkerCostState = { of: "", plan: null, there: null, problem: null, doing: null };

export const useWorkerCost = create<WorkerCostState>(() => NOTHING);

let asked: AbortController | null = null;

type Tell = (doing: string) => void;

/** Measures the form's run by `work`, in the place of what was measured before. */
async function measure(
  work: (tell: Tell, signal: AbortSignal) => Promise<Partial<Pick<WorkerCostState, "plan" | "there">>>,
): Promise<void> {
  asked?.abort();
  const mine = new AbortController();
  asked = mine;
  useWorkerCost.setState({ ...NOTHING, of: costKey(), doing: "Starting" });
  const tell = (doing: string): void => {
    if (asked === mine) useWorkerCost.setState({ doing });
  };
  try {
    const found = await work(tell, mine.signal);
    if (asked === mine) useWorkerCost.setState({ ...found, doing: null });
  } catch (error) {
    if (asked !== mine) return;
    useWorkerCost.setState({ doing: null, problem: isAbort(error) ? null : describeFault(error) });
  }
}

/** What is measured is of one config, at one place. */
export const costKey = (written: Record<string, unknown> = composeConfig().written): string => {
  const { where, target } = trainingForm();
  return probeKey(where === "target" ? { ...written, target } : written);
};

/**
 * Asks for decisions, tokens and memory of the form's run; with `probe` for its time, too. What its target measured before
 * comes with it.
 */
export const measureOnWorker = (probe: boolean): Promise<void> =>
  measure(async (tell, signal) => {
    const there = trainingForm().where === "target" ? await planOnTarget(tell, { kept: true }, signal) : null;
    return { plan: await planOnWorker(tell, probe, signal), there };
  });

/** Asks the run's target itself, which has all models and data. */
export const measureOnTarget = (): Promise<void> =>
  measure(async (tell, signal) => ({ there: await planOnTarget(tell, { kept: false }, signal) }));

/** Ends the measuring; the worker ends its process. */
export function cancelMeasuring(): void {
  asked?.abort();
  asked = null;
  useWorkerCost.setState({ doing: null });
}
