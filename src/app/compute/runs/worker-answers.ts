/**
 * What the page reads of the worker's answers (docs/worker.md). They come over the network, from another version
 * perhaps: they are checked here, as its events are, before anything is made of them. Keys that the page does not read
 * are left out. src/worker/page-answers.test.ts holds these schemas against the worker's own and its real answers.
 */
import { z } from "zod";
import { JOB_STATES } from "../../../protocol/job-state.ts";

export const jobAnswer = z.object({
  id: z.string(),
  state: z.enum(JOB_STATES),
  request: z.object({
    kind: z.enum(["train", "score"]),
    /** Of a training job: its path on the worker's disk, or the config itself. */
    config: z.union([z.string(), z.record(z.string(), z.unknown())]).optional(),
    title: z.string().optional(),
  }),
  /** What it runs, word by word. */
  command: z.array(z.string()),
  message: z.string().nullable(),
  created_at: z.iso.datetime(),
  ended_at: z.iso.datetime().nullable(),
});
export type Job = z.infer<typeof jobAnswer>;

export const jobsAnswer = z.object({ jobs: z.array(jobAnswer) });

export const filesAnswer = z.object({
  jobs: z.string(),
  /** Folder that `--files` shares; null when none is. */
  shared: z.string().nullable(),
  /** What stands for `gcopd` in a shell of its machine, and the variables that decide what it reads and computes on. */
  program: z.array(z.string()),
  environment: z.record(z.string(), z.string()),
  sample: z
    .object({
      library: z.string(),
      episodes: z.string(),
      teacher: z.string(),
      student: z.string(),
      tokenizer: z.string(),
    })
    .nullable(),
});
export type WorkerFiles = z.infer<typeof filesAnswer>;

export const deviceAnswer = z.object({ device: z.enum(["webgpu", "cpu"]), message: z.string() });

const count = z.int().min(0);
const amount = z.number().min(0);
const probedCall = z.object({ sequences: count, tokens: count, seconds: amount });
export type ProbedCall = z.infer<typeof probedCall>;

/** Seconds of the whole run, and the calls that they were taken from. */
const time = z.object({
  low: amount,
  high: amount,
  teacher: z.array(probedCall),
  student: z.array(probedCall),
});
export type WorkerTime = z.infer<typeof time>;

export const planAnswer = z.object({
  /** Bytes. */
  total: amount,
  items: z.array(z.object({ name: z.string(), part: z.string(), bytes: amount })),
  work: z.object({
    episodes: count,
    decisions: count,
    epochs: count,
    steps: count,
    teacher_tokens: count.nullable(),
    student_tokens: count.nullable(),
    response_tokens: count.nullable(),
  }),
  device: z.object({ kind: z.enum(["webgpu", "cpu"]), adapter: z.string().nullable() }),
  problem: z.string().nullable(),
  /** What a probe measured; null where it cannot be known, absent where it was not asked for. */
  time: time.nullish(),
});
export type WorkerPlan = z.infer<typeof planAnswer>;

/** A plan that a target made itself, and when; null where it made none. */
export const plannedAnswer = z.object({
  measured: z.object({ at: z.iso.datetime(), plan: planAnswer }).nullable(),
});
export type PlannedThere = z.infer<typeof plannedAnswer>["measured"];

/** Of a file that was sent: where it lies, absolute. */
export const inputAnswer = z.object({ path: z.string() });

export const resultsAnswer = z.object({ files: z.array(z.object({ path: z.string(), bytes: count })) });
