/** What the page reads of the worker's answers about targets and the runs that it launched on them (docs/worker.md). */
import { z } from "zod";

const count = z.int().min(0);
const amount = z.number().min(0);
const amountOrNull = amount.nullable();
const when = z.iso.datetime().nullable();

/** A place where the worker launches runs: the keys that the page reads, or lets be edited. */
const target = z.object({
  host: z.string().optional(),
  user: z.string().optional(),
  port: z.int().optional(),
  scheduler: z.enum(["none", "slurm", "ray", "kubernetes"]),
  ray_address: z.string().optional(),
  slurmrestd: z.string().optional(),
  kube_context: z.string().optional(),
  namespace: z.string().optional(),
  claim: z.string().optional(),
  gpu_resource: z.string().optional(),
  partition: z.string().optional(),
  account: z.string().optional(),
  gpus: z.int().optional(),
  time: z.string().optional(),
  modules: z.array(z.string()),
  image: z.string().optional(),
  gcopd: z.string().optional(),
  scratch: z.string(),
  models: z.record(z.string(), z.string()),
  price_per_gpu_hour: amount.optional(),
});
export type Target = z.infer<typeof target>;

/** What starts runs on a target, as people call it. */
export const SCHEDULERS: Readonly<Record<Target["scheduler"], string>> = {
  none: "a shell",
  slurm: "Slurm",
  ray: "Ray",
  kubernetes: "Kubernetes",
};

/** Where a target's runs are started: "login, Slurm". */
export function startedAt({ host = "this machine", scheduler }: Target): string {
  // kubectl runs here, and says nothing of where the cluster is.
  if (scheduler === "kubernetes") return SCHEDULERS.kubernetes;
  return scheduler === "none" ? host : `${host}, ${SCHEDULERS[scheduler]}`;
}

export const targetsAnswer = z.object({
  file: z.string(),
  targets: z.record(z.string(), z.looseObject(target.shape)),
});

export const checkAnswer = z.object({
  steps: z.array(
    z.object({ step: z.string(), verdict: z.enum(["ok", "note", "missing"]), text: z.string() }),
  ),
});
export type CheckStep = z.infer<typeof checkAnswer>["steps"][number];

export const launchAnswer = z.object({
  id: z.string(),
  target: z.string(),
  folder: z.string(),
  command: z.string(),
  title: z.string().nullable(),
  config: z.record(z.string(), z.unknown()).nullable(),
  attempt: z.int(),
  created_at: z.iso.datetime(),
  submitted: z.boolean(),
  /** As its target said it when it was last reached. */
  state: z.enum(["queued", "running", "ended", "lost", "never"]).nullable(),
  as_of: when,
  unreached: z.string().nullable(),
  words: z.string(),
  code: z.int().nullable(),
  asked: z.enum(["stop", "cancel"]).nullable(),
  reason: z.string().nullable(),
  expected: z.string().nullable(),
  began_at: when,
  seconds: amountOrNull,
  silent: amountOrNull,
  gpu_hours: amountOrNull,
  price: amountOrNull,
  gpus: z.int().nullable(),
  price_per_gpu_hour: amountOrNull,
  doing: z
    .object({ what: z.enum(["launch", "stop", "cancel", "resume", "fetch"]), since: z.iso.datetime() })
    .nullable(),
  problem: z.string().nullable(),
  fetched_at: when,
});
/** A run that the worker launched on a target. */
export type Launched = z.infer<typeof launchAnswer>;

export const launchesAnswer = z.object({ launches: z.array(launchAnswer) });

export const scriptAnswer = z.object({ script: z.string(), bytes: amount });

/** What an attempt of a launched run printed, from an offset on. */
export const printedAnswer = z.object({
  events: z.array(
    z.object({ type: z.enum(["progress", "output"]), data: z.record(z.string(), z.unknown()) }),
  ),
  next: count,
  more: z.boolean(),
  over: z.boolean(),
});
