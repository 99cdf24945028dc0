import { readTask } from "../../core/environment/scienceworld/task-name.ts";
import { ScienceWorldEnvironment } from "../../simulator/scienceworld/environment.ts";
import { openJar } from "../../simulator/scienceworld/jar.ts";
import { SimulatorPool } from "../../simulator/scienceworld/pool.ts";
import { UsageError } from "../command.ts";
import { progress } from "../io.ts";
import type { PlayOptions, PlaySession } from "./simulator.ts";

/** One task of the simulator that the user names. */
export async function openScienceWorld({ game, task, simulator, server }: PlayOptions): Promise<PlaySession> {
  if (simulator === undefined)
    throw new UsageError("--environment scienceworld needs --simulator, a wheel, JAR or package folder");
  if (task === undefined)
    throw new UsageError('--environment scienceworld needs --task, for example "boil|1|easy"');
  if (game !== undefined)
    throw new UsageError("--game is not for scienceworld: its tasks are in the simulator");
  if (server !== undefined) throw new UsageError("--server is not for scienceworld, which runs here");
  readTask(task);
  const jar = await openJar(simulator);
  progress(`ScienceWorld ${jar.version}, SHA-256 ${jar.sha256}`);
  const pool = new SimulatorPool(jar, { size: 1 });
  const environment = new ScienceWorldEnvironment(pool);
  return {
    environment: {
      reset: (name) => environment.reset(name),
      step: (action) => environment.step(action),
      // The process that it ran in ends with it.
      close: async () => {
        await environment.close();
        await pool.close();
      },
    },
    task,
    more: () => environment.details(),
  };
}
