import { isFreshRun, policyWords, startedPolicy } from "../../../core/loop/train-config.ts";
import type { Run } from "../../compute/runs/run.ts";

/** "on policy" or "off-policy after step 1"; null for a single step, and where it is not known yet whether there are more. */
export function runPolicy({ figures: { start }, config }: Pick<Run, "figures" | "config">): string | null {
  if (start?.unit !== undefined) return startedPolicy(start.unit, start);
  return isFreshRun(config) ? policyWords(true) : null;
}
