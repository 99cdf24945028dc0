/** Targets: the places where runs are launched, as a user's file holds them and the API tells them (docs/remote.md). */
import { z } from "zod";

/** A word of a command line or of a scheduler's script: nothing that ends a line or begins an option. */
const word = z.string().regex(/^[\w.:/@+=,][\w.:/@+=,-]*$/, { error: "expected one plain word" });
/** Also a word to the scheduler, which reads `%` and spaces in it. */
export const there = z
  .string()
  .regex(/^\/[\w.:/@+=,-]*[\w.:@+=,-]$/, { error: "expected an absolute path of plain characters" });

const kubeName = z
  .string()
  .regex(/^[a-z0-9]([a-z0-9.-]*[a-z0-9])?$/, { error: "expected a name as Kubernetes takes it" });

/** What starts runs on a target. */
export const SCHEDULERS = ["none", "slurm", "ray", "kubernetes"] as const;
export type Scheduler = (typeof SCHEDULERS)[number];

/** The keys of a target, each by itself. */
export const targetFields = z.strictObject({
  host: word.optional().describe("Host, or its name in the ssh configuration; this machine when absent."),
  user: word.optional(),
  port: z.int().min(1).max(65_535).optional(),
  ssh_config: z.string().min(1).optional().describe("In place of ~/.ssh/config."),
  scheduler: z.enum(SCHEDULERS).default("none"),
  partition: word.optional(),
  account: word.optional(),
  gpus: z.int().min(1).optional().describe("Asked of the scheduler, and counted for the price."),
  time: word.optional().describe("Time limit, as sbatch takes it."),
  sbatch: z
    .array(z.string().regex(/^--[^\r\n]+$/, { error: "expected an option of sbatch, as --mem=64G" }))
    .optional(),
  slurmrestd: z
    .string()
    .regex(/^(https?:\/\/[^\s/@?#]+(\/[^\s?#]*)?|unix:\/\S+)$/, {
      error:
        "expected http://HOST:PORT, https://HOST or unix:/PATH of slurmrestd, as this machine reaches it",
    })
    .optional()
    .describe("Slurm's REST API, in place of sbatch; the token is that of SLURM_JWT."),
  ray_address: z
    .url({ protocol: /^https?$/ })
    .optional()
    .describe("URL of Ray's dashboard, as that machine reaches it; `ray` finds its cluster when absent."),
  kube_context: z.string().min(1).optional().describe("Of your kubeconfig; its current one when absent."),
  namespace: kubeName.optional(),
  claim: kubeName.optional().describe("Persistent volume claim that has `scratch`; needed with Kubernetes."),
  gpu_resource: word.optional().describe("Name of a GPU in the cluster; nvidia.com/gpu when absent."),
  resources: z
    .record(word, word)
    .optional()
    .describe('What else a run asks of Kubernetes, as {"cpu": "8", "memory": "64Gi"}.'),
  pod: z
    .record(z.string(), z.unknown())
    .refine((pod) => !Object.hasOwn(pod, "containers"), { error: "its containers are gcopd's" })
    .optional()
    .describe("Further fields of the pod's spec, as nodeSelector and tolerations."),
  modules: z.array(word).default([]).describe("Loaded by `module load` before gcopd."),
  image: word
    .optional()
    .describe("Apptainer image that gcopd runs in, a path; with Kubernetes the container image."),
  gcopd: z
    .string()
    .regex(/^[^\r\n]+$/)
    .optional()
    .describe("Command that runs gcopd there; `gcopd` when absent, on this machine the one that launches."),
  scratch: there.describe("Folder in which each run gets a folder of its own."),
  models: z.record(word, there).default({}).describe("Paths of models there; `target:NAME` names one."),
  price_per_gpu_hour: z.number().min(0).optional().describe("In the currency of your choice."),
});
export type Target = z.infer<typeof targetFields>;

/** Keys that count only with one scheduler. */
export const KEYS_WITH: Readonly<Record<Scheduler, readonly (keyof Target)[]>> = {
  none: [],
  slurm: ["partition", "account", "time", "sbatch", "slurmrestd"],
  ray: ["ray_address"],
  kubernetes: ["kube_context", "namespace", "claim", "gpu_resource", "resources", "pod"],
};

export const Targets = z
  .object({
    file: z.string().meta({ description: "Where they are kept." }),
    targets: z.record(z.string(), targetFields),
  })
  .meta({ id: "Targets" });

/** What a step of a target's check found. */
export const CheckStep = z.object({
  step: z.string(),
  /** `note`: it may be meant so. */
  verdict: z.enum(["ok", "note", "missing"]),
  text: z.string().meta({ description: "What was found, or what to do." }),
});
export type CheckStep = z.infer<typeof CheckStep>;

export const CheckSteps = z.object({ steps: z.array(CheckStep) }).meta({ id: "CheckSteps" });
