/** The signal of a stage as JSON. */
import { z } from "zod";
import type { Stage } from "./method.ts";
import { LEAST_K, MOST_K, type Signal, type SignalKind } from "./signal.ts";

const mask = z
  .array(z.int().min(0))
  .min(1)
  .optional()
  .describe("Ids of special tokens: response tokens with one of them are left out of the loss.");

const KINDS = ["sampled-token", "top-k", "full-vocabulary"] as const satisfies SignalKind[];

export const signalSchema = z
  .discriminatedUnion("kind", [
    z.strictObject({ kind: z.literal("sampled-token"), mask }),
    z.strictObject({
      kind: z.literal("top-k"),
      k: z
        .int()
        .min(LEAST_K)
        .max(MOST_K)
        .default(32)
        .describe("The teacher's most probable tokens that are compared, renormalised."),
      mask,
    }),
    z.strictObject({ kind: z.literal("full-vocabulary"), mask }),
  ])
  .describe(
    "What is compared of teacher and student: the sampled token (the paper's Eq. (9), when absent), or a reverse KL over " +
      "the teacher's most probable tokens or over the whole vocabulary.",
  );

/** The signal as a stage has it: nothing where it is the paper's own, so that a stage that names it is the same stage. */
export function configuredSignal(signal: Signal | undefined): Pick<Stage, "signal"> {
  if (signal === undefined || (signal.kind === "sampled-token" && signal.mask === undefined)) return {};
  return { signal };
}

/** The signal of a whole schedule: its name alone takes the defaults. */
export const namedSignalSchema = z.union([z.enum(KINDS), signalSchema]);

export const namedSignal = (signal: z.infer<typeof namedSignalSchema>): Signal =>
  typeof signal === "string" ? signalSchema.parse({ kind: signal }) : signal;
