/** What a run on the worker will cost, as the worker measures it. */
import { create } from "zustand";
import type { WorkerPlan } from "../runs/worker-answers.ts";
import { describeFault, isAbort } from "./faults.ts";
import { composeConfig } from "./training-config.ts";
import { probeKey } from "./training-probe.ts";
import { planOnWorker } from "./worker-training.ts";

interface WorkerCostState {
  /** The config that plan and problem are of. */
  of: string;
  plan: WorkerPlan | null;
  problem: string | null;
  /** What is being done, in words; null while nothing is. */
  doing: string | null;
}

const NOTHING: WorkerCostState = { of: "", plan: null, problem: null, doing: null };

export const useWorkerCost = create<WorkerCostState>(() => NOTHING);

let asked: AbortController | null = null;

/** Asks for decisions, tokens and memory of the form's run; with `probe` for its time, too. */
export async function measureOnWorker(probe: boolean): Promise<void> {
  asked?.abort();
  const mine = new AbortController();
  asked = mine;
  const of = probeKey(composeConfig().written);
  useWorkerCost.setState({ ...NOTHING, of, doing: "Starting" });
  const tell = (doing: string): void => {
    if (asked === mine) useWorkerCost.setState({ doing });
  };
  try {
    const plan = await planOnWorker(tell, probe, mine.signal);
    if (asked === mine) useWorkerCost.setState({ plan, doing: null });
  } catch (error) {
    if (asked !== mine) return;
    useWorkerCost.setState({ doing: null, problem: isAbort(error) ? null : describeFault(error) });
  }
}

/** Ends the measuring; the worker ends its process. */
export function cancelMeasuring(): void {
  asked?.abort();
  asked = null;
  useWorkerCost.setState({ doing: null });
}
