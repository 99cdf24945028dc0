/** ScienceWorld as the worker plays it for this page: whether it does, which tasks, and the page's sessions there. */
import { checkTask } from "../../../core/environment/scienceworld/task-name.ts";
import { InputError } from "../../../core/errors.ts";
import type { ScienceWorldInfo } from "../../../simulator/session-contract.ts";
import { getRuns, useRuns, type WorkerState } from "../runs/runs-store.ts";
import { worker } from "../runs/worker-client.ts";
import type { SimulatorSessions } from "./internal/simulator-environment.ts";

/** Why ScienceWorld cannot be played now, and what to do, in one line; null where it can. */
export function simulatorProblem({ status, simulator }: WorkerState = getRuns().worker): string | null {
  if (simulator !== null) return null;
  if (status === "asking") return "The worker is being asked whether it has ScienceWorld.";
  if (status === "lost") return "The worker, which plays ScienceWorld, does not answer.";
  return (
    "ScienceWorld runs in Java on the worker: start the worker with --simulator PATH, " +
    "its wheel, JAR or package folder, and this page plays it."
  );
}

/** The same as a hook, for components. */
export const useSimulatorProblem = (): string | null => useRuns((runs) => simulatorProblem(runs.worker));

/** What the worker has. @throws InputError where it has none */
export function requireSimulator(): ScienceWorldInfo {
  const { simulator } = getRuns().worker;
  if (simulator === null) throw new InputError(simulatorProblem() ?? "");
  return simulator;
}

/** @throws InputError for the first task that the worker's simulator does not have */
export function checkSimulatorTasks(tasks: readonly string[]): void {
  const { tasks: all } = requireSimulator();
  for (const task of tasks) checkTask(task, all);
}

/** Tasks of the simulator, by their parts. */
export interface ChosenVariations {
  /** All tasks where it is empty. */
  name: string;
  first: number;
  /** At most so many of each task. */
  count: number;
  simplification: string;
}

/** @throws InputError where no task has these variations */
export function variationTasks({ name, first, count, simplification }: ChosenVariations): string[] {
  const chosen = requireSimulator().tasks.filter((task) => name === "" || task.name === name);
  const tasks = chosen.flatMap((task) =>
    Array.from(
      { length: Math.max(0, Math.min(count, task.variations - first)) },
      (_, n) => `${task.name}|${first + n}|${simplification}`,
    ),
  );
  if (tasks.length > 0) return tasks;
  const most = Math.max(0, ...chosen.map(({ variations }) => variations));
  throw new InputError(
    name === ""
      ? `no task has a variation ${first}: the last one of any is ${most - 1}`
      : `the variations of ${name} are 0 to ${most - 1}`,
  );
}

/** The page's sessions in the worker's simulator. */
export class WorkerSessions implements SimulatorSessions {
  /** Those that were begun here and not closed. */
  readonly #begun = new Set<string>();

  constructor(private readonly client: typeof worker) {}

  reset(session: string, task: string) {
    this.#begun.add(session);
    return this.client.beginTask(session, task);
  }
  step = (session: string, action: string) => this.client.doAction(session, action);
  renew = (session: string) => this.client.renewSession(session);
  close(session: string) {
    this.#begun.delete(session);
    return this.client.closeSession(session);
  }
  plan = async (task: string) => (await this.client.taskPlan(task)).actions;
  async free() {
    const simulator = await this.client.simulator();
    return simulator === null ? 0 : simulator.most - simulator.open;
  }

  /** Ends all with the page, so that its next visit finds the simulators free: a lease would keep them for a while. */
  end = (): void => {
    for (const session of this.#begun)
      void this.client.closeSession(session, { keepalive: true }).catch(() => undefined);
    this.#begun.clear();
  };
}

export const simulatorSessions = new WorkerSessions(worker);
