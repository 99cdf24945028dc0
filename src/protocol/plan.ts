/** What a training config will cost: what `gcopd train --plan` prints of it, and the worker's API tells. */
import { z } from "zod";

const count = z.int().min(0);
const amount = z.number().min(0);
const tokens = count.nullable().meta({ description: "Null where responses are still to be drawn." });

const measured = z.array(z.object({ sequences: count, tokens: count, seconds: amount }));

/** What a probe measured. */
export const PlannedTime = z.object({
  low: amount,
  high: amount,
  preparing: amount,
  teacher: measured,
  student: measured,
});

export const Plan = z
  .object({
    total: amount.meta({ description: "Bytes of the device." }),
    items: z.array(z.object({ name: z.string(), part: z.string(), bytes: amount })),
    work: z.object({
      episodes: count,
      decisions: count,
      epochs: count,
      steps: count,
      teacher_tokens: tokens,
      student_tokens: tokens,
      response_tokens: tokens,
    }),
    device: z.object({ kind: z.enum(["webgpu", "cpu"]), adapter: z.string().nullable() }),
    problem: z.string().nullable().meta({ description: "Why it would be refused; null when it fits." }),
    time: PlannedTime.nullish().meta({
      description:
        "With `probe`: seconds of the run as a range, checkpoints not counted, and what was measured. Null where " +
        "responses are still to be drawn, and where it would be refused.",
    }),
  })
  .meta({ id: "Plan" });
export type Plan = z.infer<typeof Plan>;

/** A plan that a target made itself, and when. */
export const PlannedThere = z.object({
  measured: z
    .object({ at: z.iso.datetime(), plan: Plan })
    .nullable()
    .meta({ description: "Null where nothing was kept." }),
});
