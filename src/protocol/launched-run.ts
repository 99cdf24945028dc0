/** Runs that were launched on targets, as the API tells them. */
import { z } from "zod";

/** Where a launched run is, as its target says (docs/remote.md). */
export const LAUNCHED_STATES = ["queued", "running", "ended", "lost", "never"] as const;

/** What is being done with a run from here. */
export const DOINGS = ["launch", "stop", "cancel", "resume", "fetch"] as const;
export type Doing = (typeof DOINGS)[number];

const amount = z.number().min(0);
const when = z.iso.datetime().nullable();

export const LaunchedRun = z
  .object({
    id: z.string(),
    target: z.string(),
    host: z.string().nullable().meta({ description: "Null for this machine." }),
    folder: z.string().meta({ description: "The run's folder on the target." }),
    command: z.string(),
    title: z.string().nullable().meta({ description: "Its name, for people; null where it has none." }),
    config: z.record(z.string(), z.unknown()).nullable().meta({
      description:
        "As it was given here; as the target reads it, where another program launched it; null where it is not known.",
    }),
    attempt: z.int().min(1),
    created_at: z.iso.datetime(),
    submitted: z.boolean().meta({ description: "Whether the target has taken the present attempt." }),
    state: z
      .enum(LAUNCHED_STATES)
      .nullable()
      .meta({ description: "As it was heard last (docs/remote.md); null where nothing was heard." }),
    as_of: when.meta({ description: "When that was." }),
    unreached: z.string().nullable().meta({
      description: "Why the target did not answer when it was asked last, which says nothing of the run.",
    }),
    words: z.string().meta({ description: "Its state in words." }),
    code: z.int().nullable(),
    asked: z.enum(["stop", "cancel"]).nullable(),
    reason: z.string().nullable().meta({ description: "What the scheduler says of it." }),
    expected: z.string().nullable().meta({ description: "When the scheduler expects to start it." }),
    began_at: when.meta({ description: "Of the present attempt, by the target's clock." }),
    seconds: amount.nullable().meta({ description: "From its beginning to its end, or to `as_of`." }),
    silent: amount
      .nullable()
      .meta({ description: "Seconds since it printed something, at `as_of`; null where not known." }),
    gpu_hours: amount.nullable().meta({ description: "Of the present attempt." }),
    price: amount.nullable(),
    gpus: z.int().nullable().meta({ description: "Of the target, as it was when the run was launched." }),
    price_per_gpu_hour: amount.nullable(),
    doing: z
      .object({ what: z.enum(DOINGS), since: z.iso.datetime() })
      .nullable()
      .meta({ description: "What is being done with it from here." }),
    problem: z.string().nullable().meta({ description: "Why the last thing of that kind failed." }),
    fetched_at: when.meta({ description: "When its results were fetched to this machine." }),
  })
  .meta({ id: "LaunchedRun" });
export type LaunchedRun = z.infer<typeof LaunchedRun>;

export const LaunchedRuns = z.object({ launches: z.array(LaunchedRun) });

/** A launch as a script to run by hand. */
export const LaunchScript = z.object({
  script: z.string(),
  bytes: amount.meta({ description: "Of the inputs that go with the run." }),
});

/** What an attempt of a run printed, from an offset on. */
export const Printed = z
  .object({
    events: z.array(
      z.object({ type: z.enum(["progress", "output"]), data: z.record(z.string(), z.unknown()) }),
    ),
    next: z.int().min(0).meta({ description: "`from` of the next request." }),
    more: z.boolean().meta({ description: "There is more here already." }),
    over: z.boolean().meta({ description: "The attempt prints nothing more, and all was given." }),
  })
  .meta({ id: "Printed" });
