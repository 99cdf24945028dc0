/** The registered experiment of the miniature, which ships beside it: what its trainings found, and their curves. */
import { z } from "zod";
import { checkedBy } from "../../../core/record/describe-issue.ts";
import { type RecordedBands, readRecorded } from "./recorded-results.ts";

const count = z.int().min(1);
const interval = z.tuple([z.number(), z.number()]);

const registeredSchema = z.object({
  registered: z.object({
    /** Success in percent below which a training counts as fallen. */
    fallen_below: z.number(),
    date: z.iso.date(),
    worlds: z.array(z.int()).min(1),
    training_seeds: count,
    tasks: count,
    trainings: count,
    planned: count,
    /** Those of which a training has ended: success on unseen tasks over `n` trainings, in percent. */
    methods: z
      .array(
        z.object({
          ...{ method: z.string(), label: z.string(), n: count, mean: z.number() },
          /** 95 %; null for a single training. */
          interval: interval.nullable(),
          fallen: z.int().min(0),
          /** Mean success of those that did not fall; null where all did. */
          others: z.number().nullable(),
        }),
      )
      .min(1),
    /** Success of `a` less that of `b`, paired by world and training seed, in points; p after Holm. */
    primary: z.array(
      z.object({ a: z.string(), b: z.string(), n: count, mean: z.number(), interval, p: z.number() }),
    ),
  }),
});

export type Registered = z.infer<typeof registeredSchema>["registered"] & { bands: RecordedBands };

/** @throws InputError for a file that is not the registered experiment's */
export function readRegistered(text: string, file: string): Registered {
  const bands = readRecorded(text, file);
  return { ...checkedBy(registeredSchema, JSON.parse(text), { file }).registered, bands };
}
