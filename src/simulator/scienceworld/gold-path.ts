import { readTask } from "../../core/environment/scienceworld/task-name.ts";
import { EnvironmentError, InputError } from "../../core/errors.ts";
import type { SimulatorPool } from "./pool.ts";

/** A gold path may be longer than an episode; it ends here. */
const PLAN_ACTIONS = 200;
const PLAN_TRIES = 2;

/**
 * The gold path of a task, at most 200 actions. A simulator that dies or hangs is replaced once.
 *
 * @throws EnvironmentError when the second one fails, too; InputError for a task or variation that the simulator does not
 * have, and when none can be started
 */
export async function goldPath(pool: SimulatorPool, task: string): Promise<readonly string[]> {
  for (let tried = 1; ; tried += 1) {
    const lent = await pool.acquire();
    try {
      await lent.load(readTask(task), true);
      return (await lent.goldActions()).slice(0, PLAN_ACTIONS);
    } catch (error) {
      if (!lent.failed || !(error instanceof InputError)) throw error;
      if (tried === PLAN_TRIES) throw new EnvironmentError(error.reason, error.where);
    } finally {
      await pool.release(lent);
    }
  }
}
