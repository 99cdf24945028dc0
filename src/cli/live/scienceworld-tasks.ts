import { InputError } from "../../core/errors.ts";
import { ScienceWorldEnvironment } from "../../simulator/scienceworld/environment.ts";
import { openJar } from "../../simulator/scienceworld/jar.ts";
import { SimulatorPool } from "../../simulator/scienceworld/pool.ts";
import { readTask } from "../../simulator/scienceworld/simulator.ts";
import type { GameFiles } from "./open-games.ts";

/** A gold path may be longer than an episode; it ends here. */
const PLAN_ACTIONS = 200;

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
  for (const task of tasks) readTask(task);
  const jar = await openJar(simulator);
  const pool = new SimulatorPool(jar);
  return {
    tasks,
    open: () => new ScienceWorldEnvironment(pool),
    plan: async (task) => {
      const lent = await pool.acquire();
      try {
        await lent.load(readTask(task), true);
        return (await lent.goldActions()).slice(0, PLAN_ACTIONS);
      } finally {
        await pool.release(lent);
      }
    },
    planKind: "planner",
    // As the released library numbers them.
    planRepetition: 1_000_000,
    digest: async () => jar.sha256,
    atOnce: pool.size,
    close: () => pool.close(),
  };
}
