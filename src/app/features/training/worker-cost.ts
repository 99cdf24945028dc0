/** What a run on the worker will cost, as the worker measures it. */
import { create } from "zustand";
import { describeFault, isAbort } from "../../base/faults.ts";
import type { PlannedThere, WorkerPlan } from "../../compute/runs/worker-answers.ts";
import { composeConfig } from "../../compute/training/training-config.ts";
import { trainingForm } from "../../compute/training/training-form.ts";
import { type WorkerTraining, workerTraining } from "../../compute/training/worker-training.ts";
import { probeKey } from "./training-probe.ts";

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

type Found = Partial<Pick<WorkerCostState, "plan" | "there">>;

/** What is measured is of one config, at one place. */
export const costKey = (written: Record<string, unknown> = composeConfig().written): string => {
  const { where, target } = trainingForm();
  return probeKey(where === "target" ? { ...written, target } : written);
};

export class WorkerCost {
  #asked: AbortController | null = null;

  constructor(private readonly training: WorkerTraining) {}

  /** Measures the form's run by `work`, in the place of what was measured before. */
  async #measure(
    work: (tell: (doing: string) => void, signal: AbortSignal) => Promise<Found>,
  ): Promise<void> {
    this.#asked?.abort();
    const mine = new AbortController();
    this.#asked = mine;
    const show = (change: Partial<WorkerCostState>): void => {
      if (this.#asked === mine) useWorkerCost.setState(change);
    };
    show({ ...NOTHING, of: costKey(), doing: "Starting" });
    try {
      show({ ...(await work((doing) => show({ doing }), mine.signal)), doing: null });
    } catch (error) {
      if (this.#asked === mine) show({ doing: null, problem: isAbort(error) ? null : describeFault(error) });
    }
  }

  /**
   * Asks for decisions, tokens and memory of the form's run; with `probe` for its time, too. What its target measured
   * before comes with it.
   */
  onWorker(probe: boolean): Promise<void> {
    return this.#measure(async (tell, signal) => {
      const isThere = trainingForm().where === "target";
      const there = isThere ? await this.training.planOnTarget(tell, { kept: true }, signal) : null;
      return { plan: await this.training.planOnWorker(tell, probe, signal), there };
    });
  }

  /** Asks the run's target itself, which has all models and data. */
  onTarget(): Promise<void> {
    return this.#measure(async (tell, signal) => ({
      there: await this.training.planOnTarget(tell, { kept: false }, signal),
    }));
  }

  /** Ends the measuring; the worker ends its process. */
  cancel(): void {
    this.#asked?.abort();
    this.#asked = null;
    useWorkerCost.setState({ doing: null });
  }
}

export const workerCost = new WorkerCost(workerTraining);
