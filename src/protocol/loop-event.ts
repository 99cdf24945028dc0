/**
 * The events of the loop as a reader checks them: those of a worker come over the network, from another version perhaps.
 * `TrainEvent` has all keys; here are those that are read. What is not read is kept for export as it came.
 */
import { z } from "zod";
import { evaluationResultsShape } from "../core/evaluation/index.ts";
import type { TrainEvent } from "../core/loop/events.ts";

const count = z.int().min(0);
/** JSON has no NaN and no infinity: what is neither a number any more arrives as null. */
const figure = z.number().nullable();
const at = { step: count, stage: count };

const model = z.object({
  model: z.string(),
  device: z.enum(["webgpu", "cpu", "server"]),
  adapter: z.string(),
  dtype: z.string(),
  // Of a model that another program serves, and how far its log-probabilities, in nats, are from those of our own engine.
  served: z
    .object({
      by: z.string(),
      sameTokenizer: z.boolean(),
      calibration: z
        .object({
          against: z.string(),
          decisions: count,
          tokens: count,
          largest: z.number(),
          mean: z.number(),
        })
        .nullable(),
    })
    .optional(),
});

/** How far the present step is. The command line tells it between the loop's events. */
export const workEvent = z.object({
  type: z.literal("work"),
  what: z.string(),
  done: z.number(),
  total: z.number(),
  unit: z.string(),
});
export type WorkEvent = z.infer<typeof workEvent>;

const loopEvent = z.discriminatedUnion("type", [
  z.object({
    type: z.literal("start"),
    steps: count,
    // Runs of an earlier version did not tell it.
    unit: z.enum(["episode", "task"]).optional(),
    teacher: model.nullable(),
    student: model,
    resumedFrom: count.nullable(),
    // Runs of an earlier version had none.
    parent: z.object({ name: z.string(), step: count }).nullish(),
  }),
  z.object({ type: z.literal("stage"), stage: count, name: z.string(), epochs: count }),
  z.object({
    type: z.literal("epoch"),
    stage: count,
    batches: count,
    // Runs of an earlier version did not tell it.
    repeating: count.optional(),
  }),
  z.object({ type: z.literal("step"), ...at }),
  z.object({
    type: z.literal("rollout"),
    ...at,
    episodes: count,
    successes: count,
    // Runs of an earlier version did not tell it.
    seconds: figure.optional(),
  }),
  z.object({
    type: z.literal("excluded"),
    ...at,
    // Runs of an earlier version did not tell it.
    episodes: z.array(z.object({ noTurn: z.literal(true).optional() })),
    of: count,
    steps: count,
  }),
  z.object({ type: z.literal("bridged"), ...at, accepted: count, refused: count, invalid: count }),
  z.object({
    ...{ type: z.literal("scored"), ...at, contextTokens: count, seconds: figure },
    // Runs of an earlier version may not have told it.
    rolloutPolicy: z.enum(["recorded", "current", "mixed"]).optional(),
  }),
  z.object({
    type: z.literal("updated"),
    ...at,
    metrics: z.object({
      loss: figure,
      gradNorm: figure,
      clipFraction: figure,
      meanAdvantage: figure,
      rolloutKl: figure,
      alignment: figure,
      tokens: count,
      // Runs of an earlier version did not tell it.
      sequenceTokens: count.optional(),
    }),
    seconds: figure,
    // Runs of an earlier version did not tell it.
    updateSeconds: figure.optional(),
    tokensPerSecond: figure,
  }),
  z.object({ type: z.literal("evaluated"), step: count, seconds: figure, ...evaluationResultsShape }),
  // What the student makes of decisions that the user watches.
  z.object({
    type: z.literal("held-out"),
    step: count,
    decisions: z.array(
      z.object({
        episode: z.string().optional(),
        decision: count.optional(),
        /** In place of both, of runs of an earlier version. */
        label: z.string().optional(),
        action: z.string().nullable(),
        /** Whether the run trains on its episode, and on its task. Runs of an earlier version did not tell of the task. */
        trained: z.boolean(),
        taskTrained: z.boolean().optional(),
        /** The action is not found in the response. Runs of an earlier version did not tell it. */
        whole: z.boolean().optional(),
        /** Of the action's tokens together, or of the whole response's; natural log. */
        logprob: figure,
      }),
    ),
  }),
  z.object({ type: z.literal("checkpoint"), step: count }),
  z.object({
    type: z.literal("fault"),
    step: count,
    message: z.string(),
    // Workers of an earlier version covered it by the job's.
    attempt: count.optional(),
    attempts: count.optional(),
  }),
  z.object({ type: z.literal("damaged"), step: count, checkpoint: z.string(), reason: z.string() }),
  z.object({
    type: z.literal("stopped"),
    step: count,
    // Where a budget ended it: seconds that it may take, and has taken.
    budget: z.object({ seconds: z.number(), spent: z.number() }).optional(),
  }),
  z.object({ type: z.literal("done"), step: count }),
  workEvent,
]);

/** An event of the loop, or how far its present step is. */
export type LoopEvent = z.infer<typeof loopEvent>;

type Fitting<T extends U, U> = T;
/** Every event that the loop tells fits the schema: else this does not compile. */
export type ToldEvent = Fitting<TrainEvent, LoopEvent>;

/** What is wrong with something that has not its form, at its first key, as the end of a sentence. */
export function whatIsWrong(what: string, { issues: [issue] }: z.ZodError): string {
  const key = issue?.path.join(".") ?? "";
  return `${what}${key === "" ? "" : `, key “${key}”`}: ${issue?.message ?? "not the expected form"}`;
}

/** Why an object is no such event: the key and what was expected, as the end of a sentence; null where it is one. */
export function loopEventProblem(data: Readonly<Record<string, unknown>>): string | null {
  const { error } = loopEvent.safeParse(data);
  if (error === undefined) return null;
  return whatIsWrong(typeof data.type === "string" ? `“${data.type}” event` : "event", error);
}

/** Reads an object that a command printed: null for one that is no event, and what is wrong with one that has not its form. */
export function readLoopEvent(
  data: Readonly<Record<string, unknown>>,
): LoopEvent | null | { problem: string } {
  if (typeof data.type !== "string") return null;
  const problem = loopEventProblem(data);
  return problem === null ? (data as LoopEvent) : { problem };
}
