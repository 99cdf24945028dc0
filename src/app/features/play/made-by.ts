/** What makes a household game of ours again, read out of its task's name. */
import { TASK_TYPES } from "../../../core/environment/alfworld/task-types.ts";
import { type MadeConfig, ROOM_SIZES, SEED_LIMIT } from "../../../core/environment/made-config.ts";
import { isOneOf } from "../../../core/one-of.ts";
import type { TaskName } from "../../data/model.ts";

/** Null for a task that we did not make, and for shops, whose names do not say how much they sell. */
export function madeBy({ environment, task }: TaskName): MadeConfig | null {
  const [, size = "", world, type = "", seed = ""] =
    /^made\/(\w+)\/(?:world-(\d{1,9})\/)?(\w+)-(\d{1,9})$/.exec(task) ?? [];
  if (environment !== "alfworld" || !isOneOf(ROOM_SIZES, size) || !isOneOf(TASK_TYPES, type)) return null;
  if (Number(seed) >= SEED_LIMIT) return null;
  const made = { count: 1, seed: Number(seed), size, type };
  return world === undefined ? made : { ...made, world: Number(world) };
}
