/**
 * What the page reads of the worker's answers (docs/worker.md), out of the schemas that the worker answers by. They come
 * over the network, from another version perhaps: they are checked here, as its events are, before anything is made of
 * them. Keys that the page does not read are left out. src/worker/page-answers.test.ts holds these schemas against the
 * worker's own and its real answers.
 */
import { z } from "zod";
import { DeviceReport } from "../../../protocol/device.ts";
import { InputFile, ResultFile } from "../../../protocol/files.ts";
import { Job as GivenJob, TrainRequest } from "../../../protocol/job.ts";
import { LaunchedRun } from "../../../protocol/launched-run.ts";
import { PlannedThere as GivenPlans, Plan, PlannedTime } from "../../../protocol/plan.ts";
import { Targets, targetFields } from "../../../protocol/target.ts";

const { config, title } = TrainRequest.shape;

export const jobAnswer = GivenJob.pick({
  id: true,
  state: true,
  command: true,
  message: true,
  created_at: true,
  ended_at: true,
  last_event: true,
}).extend({
  request: z.object({ kind: z.enum(["train", "score"]), config: config.optional(), title }),
});
export type Job = z.infer<typeof jobAnswer>;

export const jobsAnswer = z.object({ jobs: z.array(jobAnswer) });

export const deviceAnswer = DeviceReport.pick({ device: true, message: true });

const time = PlannedTime.omit({ preparing: true });
/** Seconds of the whole run, and the calls that they were taken from. */
export type WorkerTime = z.infer<typeof time>;
export type ProbedCall = WorkerTime["teacher"][number];

export const planAnswer = Plan.extend({ time: time.nullish() });
export type WorkerPlan = z.infer<typeof planAnswer>;

/** A plan that a target made itself, and when; null where it made none. */
export const plannedAnswer = z.object({
  measured: GivenPlans.shape.measured.unwrap().extend({ plan: planAnswer }).nullable(),
});
export type PlannedThere = z.infer<typeof plannedAnswer>["measured"];

export const inputAnswer = InputFile.pick({ path: true });

export const resultsAnswer = z.object({ files: z.array(ResultFile.pick({ path: true, bytes: true })) });

const target = targetFields.omit({ ssh_config: true, sbatch: true, resources: true, pod: true });
/** A place where the worker launches runs: the keys that the page reads, or lets be edited. */
export type Target = z.infer<typeof target>;

/** A target keeps the keys that the page does not read: it is sent back whole. */
export const targetsAnswer = Targets.extend({ targets: z.record(z.string(), target.loose()) });

/** A run that the worker launched on a target. */
export const launchAnswer = LaunchedRun.omit({ host: true });
export type Launched = z.infer<typeof launchAnswer>;

export const launchesAnswer = z.object({ launches: z.array(launchAnswer) });
