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

/** What starts runs on a target: its name for people, and whether a target with it may have a host. */
export const SCHEDULERS = {
  none: { label: "a shell", onHost: true },
  slurm: { label: "Slurm", onHost: true },
  ray: { label: "Ray", onHost: true },
  // kubectl runs here, and says nothing of where the cluster is.
  kubernetes: { label: "Kubernetes", onHost: false },
} as const satisfies Record<string, { label: string; onHost: boolean }>;
export type Scheduler = keyof typeof SCHEDULERS;
export const SCHEDULER_NAMES = Object.keys(SCHEDULERS) as [Scheduler, ...Scheduler[]];

/** How people give a key, by an option of `gcopd target add` and in the form of the page. */
interface Input {
  /** How its text is read; as it is when absent. Words and pairs (NAME=VALUE) may be several. */
  as?: "number" | "file" | "words" | "pairs" | "json";
  /** What it counts with; it always counts when absent. */
  with?: "host" | readonly Scheduler[];
  /** Its field: caption, and an example or what holds when it is empty. The form has none when absent. */
  field?: readonly [label: string, hint: string];
}

const inputs = z.registry<Input>();

/** A key with what it is, for the help of the command line and the API's description. */
function key<S extends z.ZodType>(schema: S, text: string, input: Input): S {
  const described = schema.describe(text);
  inputs.add(described, input);
  return described;
}

/** The keys of a target, each by itself. What the command line and the page show of them follows from here. */
export const targetFields = z.strictObject({
  host: key(word.optional(), "host, or its name in your ssh configuration; this machine when absent", {
    field: ["Host", "empty: this machine"],
  }),
  user: key(word.optional(), "user on the host", { with: "host", field: ["User", "as ssh takes it"] }),
  port: key(z.int().min(1).max(65_535).optional(), "port of its ssh server", {
    as: "number",
    with: "host",
    field: ["Port", "22"],
  }),
  ssh_config: key(z.string().min(1).optional(), "ssh configuration to use instead of ~/.ssh/config", {
    as: "file",
    with: "host",
  }),
  scratch: key(there, "absolute path of a folder there, in which each run gets its own", {
    field: ["Scratch folder", "/scratch/me"],
  }),
  scheduler: z.enum(SCHEDULER_NAMES).default("none").describe("what starts runs there"),
  slurmrestd: key(
    z
      .string()
      .regex(/^(https?:\/\/[^\s/@?#]+(\/[^\s?#]*)?|unix:\/\S+)$/, {
        error:
          "expected http://HOST:PORT, https://HOST or unix:/PATH of slurmrestd, as this machine reaches it",
      })
      .optional(),
    "Slurm's REST API as this machine reaches it (http://HOST:PORT, https://HOST, unix:/PATH), instead of sbatch; its token comes from SLURM_JWT",
    { with: ["slurm"], field: ["slurmrestd", "empty: sbatch"] },
  ),
  partition: key(word.optional(), "Slurm's partition", { with: ["slurm"], field: ["Partition", ""] }),
  account: key(word.optional(), "Slurm's account", { with: ["slurm"], field: ["Account", ""] }),
  time: key(
    word.optional(),
    "time limit as sbatch takes it, such as 12:00:00; shortly before it, a run ends after its step",
    { with: ["slurm"], field: ["Time limit", "12:00:00"] },
  ),
  sbatch: key(
    z
      .array(z.string().regex(/^--[^\r\n]+$/, { error: "expected an option of sbatch, as --mem=64G" }))
      .optional(),
    "another option for sbatch, such as --sbatch=--mem=64G; may be repeated",
    { as: "words", with: ["slurm"] },
  ),
  ray_address: key(
    z.url({ protocol: /^https?$/ }).optional(),
    "Ray's dashboard, as that machine reaches it; `ray` finds its cluster when absent",
    { with: ["ray"], field: ["Ray’s dashboard", "http://127.0.0.1:8265"] },
  ),
  kube_context: key(z.string().min(1).optional(), "context of your kubeconfig; its current one when absent", {
    with: ["kubernetes"],
    field: ["kubectl’s context", "empty: its current one"],
  }),
  namespace: key(kubeName.optional(), "Kubernetes namespace; the context's when absent", {
    with: ["kubernetes"],
    field: ["Namespace", "empty: the context’s"],
  }),
  claim: key(kubeName.optional(), "persistent volume claim that holds the scratch folder", {
    with: ["kubernetes"],
    field: ["Volume claim of the scratch folder", ""],
  }),
  gpu_resource: key(word.optional(), "what Kubernetes calls a GPU; nvidia.com/gpu when absent", {
    with: ["kubernetes"],
    field: ["Name of a GPU", "nvidia.com/gpu"],
  }),
  resources: key(
    z.record(word, word).optional(),
    "what else a run asks of Kubernetes, such as memory=64Gi; may be repeated",
    { as: "pairs", with: ["kubernetes"] },
  ),
  pod: key(
    z
      .record(z.string(), z.unknown())
      .refine((pod) => !Object.hasOwn(pod, "containers"), { error: "its containers are gcopd's" })
      .optional(),
    "further fields of the pod's spec, such as nodeSelector and tolerations, as JSON",
    { as: "json", with: ["kubernetes"] },
  ),
  gpus: key(z.int().min(1).optional(), "number of GPUs for a run, counted for its price", {
    as: "number",
    field: ["GPUs per run", ""],
  }),
  modules: key(z.array(word).default([]), "load this module first; may be repeated", {
    as: "words",
    field: ["Modules", "node cuda"],
  }),
  image: key(
    word.optional(),
    "run inside this Apptainer image, a path; with Kubernetes, the container image",
    { field: ["Image", "/images/gcopd.sif, or a container image"] },
  ),
  gcopd: key(
    z
      .string()
      .regex(/^[^\r\n]+$/)
      .optional(),
    "command that runs gcopd there; `gcopd` when absent, on this machine the one that launches",
    { field: ["gcopd command", "gcopd"] },
  ),
  models: key(
    z.record(word, there).default({}),
    "a model folder there, which configs name as target:NAME; may be repeated",
    { as: "pairs", field: ["Models (NAME=/PATH)", "qwen3-8b=/models/Qwen3-8B"] },
  ),
  price_per_gpu_hour: key(
    z.number().min(0).optional(),
    "what you pay for one GPU-hour, in the currency of your choice",
    { as: "number", field: ["Price per GPU-hour", ""] },
  ),
});
export type Target = z.infer<typeof targetFields>;

export interface TargetKey extends Input {
  key: keyof Target;
  /** What it is. */
  text: string;
}

/** Every key but `scheduler`, in the order in which people are asked for them. */
export const TARGET_KEYS: readonly TargetKey[] = Object.entries(targetFields.shape).flatMap(
  ([key, schema]) => {
    const input = inputs.get(schema);
    return input === undefined
      ? []
      : [{ key: key as keyof Target, text: schema.description ?? "", ...input }];
  },
);

/** What a key counts with that a target does not have: "host", "scheduler slurm"; null where it counts. */
export function missingFor(
  { with: needed }: TargetKey,
  { host, scheduler }: Pick<Target, "host" | "scheduler">,
): string | null {
  if (needed === undefined) return null;
  if (needed === "host") return host === undefined ? "host" : null;
  return needed.includes(scheduler) ? null : `scheduler ${needed.join(" or ")}`;
}

/** Where a target's runs are started: "login, Slurm". */
export function startedAt({ host = "this machine", scheduler }: Pick<Target, "host" | "scheduler">): string {
  const { label, onHost } = SCHEDULERS[scheduler];
  if (!onHost) return label;
  return scheduler === "none" ? host : `${host}, ${label}`;
}

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
