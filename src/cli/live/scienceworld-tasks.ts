import { readTask } from "../../core/environment/scienceworld/task-name.ts";
import { EnvironmentError, InputError } from "../../core/errors.ts";
import type { TaskOrigin } from "../../core/loop/index.ts";
import { ScienceWorldEnvironment } from "../../simulator/scienceworld/environment.ts";
import { goldPath } from "../../simulator/scienceworld/gold-path.ts";
import { openJar } from "../../simulator/scienceworld/jar.ts";
import { SimulatorPool } from "../../simulator/scienceworld/pool.ts";
import { progress } from "../io.ts";
import type { GameFiles } from "./game-files.ts";
import { placeOfTask } from "./task-file.ts";

/** The gold path of a task; null, with a note, where two simulators fail over it. */
async function planOf(pool: SimulatorPool, task: string): Promise<readonly string[] | null> {
  try {
    return await goldPath(pool, task);
  } catch (error) {
    if (!(error instanceof EnvironmentError)) throw error;
    progress(`${task} has no planner record: ${error.message}`);
    return null;
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
 * @throws InputError for a file that is not a simulator, and for tasks that are missing or of another form
 */
export async function scienceWorldTasks(
  { simulator }: TaskOrigin<"scienceworld">,
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
    digest: async () => jar.sha256,
    atOnce: pool.size,
    close: () => pool.close(),
  };
}
