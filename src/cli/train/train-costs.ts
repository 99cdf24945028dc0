/** What a training run took, by stage, from its events. */
import { join } from "node:path";
import { z } from "zod";
import { type Cost, deviceWords } from "../../core/loop/index.ts";
import { readLines, timeTaken } from "./event-log.ts";

const startSchema = z.object({
  type: z.literal("start"),
  student: z.object({ device: z.enum(["webgpu", "cpu", "server"]), adapter: z.string() }),
});
const secondsSchema = z.object({
  type: z.string(),
  seconds: z.number().min(0),
  updateSeconds: z.number().min(0).optional(),
  // Of bridges; runs of an earlier version did not tell it.
  playSeconds: z.number().min(0).optional(),
  scoreSeconds: z.number().min(0).optional(),
});

/**
 * Stages of the steps that count. All else that the attempts took is `other`: opening models, checkpoints, and steps that
 * were taken again.
 *
 * @returns nothing for a folder without events
 */
export function trainCosts(out: string): Omit<Cost, "gpus">[] {
  const path = join(out, "events.jsonl");
  const events = readLines(path);
  const start = events
    .map((event) => startSchema.safeParse(event).data)
    .findLast((each) => each !== undefined);
  if (start === undefined) return [];
  const device = deviceWords(start.student);
  const sums = { rollout: 0, scoring: 0, update: 0, evaluation: 0 };
  for (const value of events) {
    const event = secondsSchema.safeParse(value).data;
    if (event?.type === "rollout") sums.rollout += event.seconds;
    if (event?.type === "scored") sums.scoring += event.seconds;
    if (event?.type === "bridged") {
      sums.rollout += event.playSeconds ?? 0;
      sums.scoring += event.scoreSeconds ?? 0;
    }
    if (event?.type === "updated") sums.update += event.updateSeconds ?? 0;
    if (event?.type === "evaluated") sums.evaluation += event.seconds;
  }
  const known = Object.values(sums).reduce((sum, seconds) => sum + seconds, 0);
  const other = Math.max(0, timeTaken(path).spent - known);
  return [
    ...(["rollout", "scoring", "update", "evaluation"] as const).map((stage) => ({
      ...{ stage, device },
      seconds: sums[stage],
    })),
    { stage: "other", device, seconds: other },
  ];
}
