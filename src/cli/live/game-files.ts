import type { TaskPlans } from "../../core/loop/index.ts";
import type { GameSet } from "../../simulator/game-set.ts";

/** The tasks that some files, or a simulator, hold. */
export interface GameFiles extends Pick<GameSet, "tasks" | "open">, TaskPlans {
  /** Digest of all that decides what these tasks are. */
  digest(tasks: readonly string[]): Promise<string>;
  /** Environments that can be open at the same time; any number when absent. */
  atOnce?: number;
  /** Ends what was started for them. */
  close(): Promise<void>;
}
