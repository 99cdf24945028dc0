import { InputError } from "../../core/errors.ts";
import { ScienceWorldEnvironment } from "../../simulator/scienceworld/environment.ts";
import { openJar } from "../../simulator/scienceworld/jar.ts";
import { SimulatorPool } from "../../simulator/scienceworld/pool.ts";
import { readTask } from "../../simulator/scienceworld/simulator.ts";
import { progress } from "../io.ts";
import type { GameFiles } from "./open-games.ts";
import { placeOfTask } from "./task-file.ts";

/** A gold path may be longer than an episode; it ends here. */
const PLAN_ACTIONS = 200;
const PLAN_TRIES = 2;

/**
 * The gold path of a task. A simulator that dies or hangs is replaced once; then the task has no plan, and a note says
 * why.
 *
 * @throws InputError for a task or variation that the simulator does not have, and when none can be started
 */
async function planOf(pool: SimulatorPool, task: string): Promise<readonly string[] | null> {
  for (let tried = 1; ; tried += 1) {
    const lent = await pool.acquire();
    try {
      await lent.load(readTask(task), true);
      return (await lent.goldActions()).slice(0, PLAN_ACTIONS);
    } catch (error) {
      if (!lent.failed || !(error instanceof InputError)) throw error;
      if (tried === PLAN_TRIES) {
        progress(`${task} has no planner record: ${error.message}`);
        return null;
      }
    } finally {
      await pool.release(lent);
    }
  }
}

/** @throws InputError for a task of another form, with the place that names it */
function checkTask(task: string, where: InputError["where"] = { key: "environment.tasks" }): void {
  try {
    readTask(task);
  } catch (error) {
    throw error instanceof InputError ? new InputError(error.reason, where) : error;
  }
}

/**
 * Tasks of the simulator that the user names, one Java process per environment; plans are its gold paths.
 *
 * @throws InputError for a file that is no simulator, and for tasks that are missing or of another form
 */
export async function scienceWorldTasks(
  simulator: string,
  tasks: readonly string[] | undefined,
): Promise<GameFiles> {
  if (tasks === undefined) {
    throw new InputError('missing; expected the tasks to play, for example ["boil|1|easy"]', {
      key: "environment.tasks",
    });
  }
  for (const task of tasks) checkTask(task, placeOfTask(tasks, task));
  const jar = await openJar(simulator);
  const pool = new SimulatorPool(jar);
  return {
    tasks,
    open: () => new ScienceWorldEnvironment(pool),
    plan: (task) => planOf(pool, task),
    planKind: "planner",
    // As the released library numbers them.
    planRepetition: 1_000_000,
    digest: async () => jar.sha256,
    atOnce: pool.size,
    close: () => pool.close(),
  };
}
