/** Targets: the places where a user launches runs, in a file of the user's own that holds no secret (docs/remote.md). */
import { existsSync, readFileSync } from "node:fs";
import { homedir } from "node:os";
import { isAbsolute, join } from "node:path";
import { z } from "zod";
import { InputError } from "../../core/errors.ts";
import { parseJsonText } from "../../core/json.ts";
import { checkedBy } from "../../core/record/describe-issue.ts";
import { onFileSync } from "../../node/file-error.ts";
import { makeFolder, writeWholeSync } from "../../node/whole-file.ts";
import { PACKAGE } from "../package-root.ts";
import { doorShell, type KubernetesPlace, kubernetesLauncher } from "./kubernetes.ts";
import type { RunLauncher } from "./launcher.ts";
import { processLauncher } from "./process.ts";
import { rayLauncher } from "./ray.ts";
import { quoted, type Shell, thisMachine } from "./shell.ts";
import { slurmLauncher } from "./slurm.ts";
import { slurmRestLauncher } from "./slurmrestd.ts";
import { minutesOf, optionProblem } from "./slurmrestd-job.ts";
import { sshShell } from "./ssh.ts";

/** A word of a command line or of a scheduler's script: nothing that ends a line or begins an option. */
const word = z.string().regex(/^[\w.:/@+=,][\w.:/@+=,-]*$/, { error: "expected one plain word" });
/** Also a word to the scheduler, which reads `%` and spaces in it. */
export const there = z
  .string()
  .regex(/^\/[\w.:/@+=,-]*[\w.:@+=,-]$/, { error: "expected an absolute path of plain characters" });

/** Stands before a path of the target, or the name of one of its models. */
export const ON_TARGET = "target:";

const kubeName = z
  .string()
  .regex(/^[a-z0-9]([a-z0-9.-]*[a-z0-9])?$/, { error: "expected a name as Kubernetes takes it" });

/** What starts runs on a target. */
export const SCHEDULERS = ["none", "slurm", "ray", "kubernetes"] as const;

/** Keys that count only beside another; on their own they would be ignored in silence. */
const ONLY_WITH = {
  host: ["user", "port", "ssh_config"],
  "scheduler slurm": ["partition", "account", "time", "sbatch", "slurmrestd"],
  "scheduler ray": ["ray_address"],
  "scheduler kubernetes": ["kube_context", "namespace", "claim", "gpu_resource", "resources", "pod"],
} as const;

const targetFields = z.strictObject({
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

export const targetSchema = targetFields.superRefine((target, context) => {
  const has = {
    host: target.host !== undefined,
    "scheduler slurm": target.scheduler === "slurm",
    "scheduler ray": target.scheduler === "ray",
    "scheduler kubernetes": target.scheduler === "kubernetes",
  };
  for (const what of ["host", "scheduler slurm", "scheduler ray", "scheduler kubernetes"] as const)
    for (const key of ONLY_WITH[what])
      if (target[key] !== undefined && !has[what])
        context.addIssue({
          code: "custom",
          path: [key],
          message: `counts only with ${what}, which is missing`,
        });
  const problem = (key: string, message: string) =>
    context.addIssue({ code: "custom", path: [key], message });
  if (target.scheduler === "kubernetes") {
    if (target.host !== undefined)
      problem("host", "kubectl runs on this machine: expected none with scheduler kubernetes");
    if (target.claim === undefined) problem("claim", "expected the persistent volume claim that has scratch");
    if (target.image === undefined) problem("image", "expected the container image of the runs");
  } else if (target.image !== undefined && !there.safeParse(target.image).success)
    problem("image", "expected the absolute path of an Apptainer image");
  const { slurmrestd, time, sbatch = [] } = target;
  if (slurmrestd === undefined) return;
  if (time !== undefined && minutesOf(time) === null)
    context.addIssue({
      code: "custom",
      path: ["time"],
      message: "expected MINUTES, HOURS:MINUTES:SECONDS or DAYS-HOURS",
    });
  for (const [index, option] of sbatch.entries()) {
    const message = optionProblem(option);
    if (message !== null) context.addIssue({ code: "custom", path: ["sbatch", index], message });
  }
});

export type Target = z.infer<typeof targetSchema>;

const targetsSchema = z.record(z.string(), targetSchema);

/** `$XDG_CONFIG_HOME/gcopd/targets.json`, by default in ~/.config. */
export function targetsFile(env: NodeJS.ProcessEnv = process.env): string {
  const base = env.XDG_CONFIG_HOME;
  return join(base && isAbsolute(base) ? base : join(homedir(), ".config"), "gcopd", "targets.json");
}

/** Those of the file; none where there is no file. @throws InputError that names file and key */
export function readTargets(file = targetsFile()): Record<string, Target> {
  if (!existsSync(file)) return {};
  const text = onFileSync(file, "read", () => readFileSync(file, "utf8"));
  return checkedBy(targetsSchema, parseJsonText(text, { file }), { file });
}

/** @throws InputError for a name that the file does not have */
export function readTarget(name: string, file = targetsFile()): Target {
  const targets = readTargets(file);
  const target = Object.hasOwn(targets, name) ? targets[name] : undefined;
  if (target !== undefined) return target;
  const known = Object.keys(targets);
  const others = known.length === 0 ? "it has none: `gcopd target add`" : `it has ${known.join(", ")}`;
  throw new InputError(`no target ${JSON.stringify(name)}; ${others}`, { file });
}

/**
 * Adds a target to the file, which only its owner may read.
 *
 * @throws InputError for a name that is there, unless it is to be replaced, and for a key that does not fit
 */
export async function addTarget(
  name: string,
  given: Record<string, unknown>,
  { replace = false, file = targetsFile() } = {},
): Promise<void> {
  if (!/^[\w][\w.-]*$/.test(name))
    throw new InputError(`expected a name of letters, digits, ".", "_" and "-", got ${JSON.stringify(name)}`);
  const targets = readTargets(file);
  if (Object.hasOwn(targets, name) && !replace)
    throw new InputError("already exists: --replace puts this one in its place", { file, key: name });
  const added = checkedBy(targetSchema, given);
  await makeFolder(join(file, ".."));
  const all = { ...targets, [name]: added };
  writeWholeSync(file, `${JSON.stringify(all, null, 2)}\n`, { mode: 0o600 });
}

const LAUNCHERS: Record<Target["scheduler"], (shell: Shell, target: Target) => RunLauncher> = {
  none: processLauncher,
  slurm: (shell, { slurmrestd, ...resources }) =>
    slurmrestd === undefined
      ? slurmLauncher(shell, resources)
      : slurmRestLauncher(shell, { ...resources, slurmrestd }),
  ray: rayLauncher,
  kubernetes: (_, target) => kubernetesLauncher(kubernetesPlace(target)),
};

/** @throws InputError for a target whose file was not checked */
export function kubernetesPlace({ image, claim, ...rest }: Target): KubernetesPlace {
  if (image === undefined || claim === undefined)
    throw new InputError("a target of Kubernetes has an image and a claim");
  return { ...rest, image, claim };
}

export function shellOf(target: Target): Shell {
  if (target.scheduler === "kubernetes") return doorShell(kubernetesPlace(target));
  const { host, ...rest } = target;
  return host === undefined ? thisMachine : sshShell({ ...rest, host });
}

export function launcherOf(target: Target): RunLauncher {
  const shell = shellOf(target);
  return LAUNCHERS[target.scheduler](shell, target);
}

/** Shell lines that must come before a program of the target, what stands before its name, and gcopd's command. */
export function surroundings({ host, modules, image, scratch, gcopd, scheduler }: Target): {
  before: string;
  inside: string;
  gcopd: string;
} {
  const load = modules.map((module) => `module load ${quoted(module)} || exit 72\n`).join("");
  const own = [process.execPath, join(PACKAGE.root, "bin", "gcopd.js")].map(quoted).join(" ");
  return {
    // A non-login shell may not know `module`.
    before:
      load === "" ? "" : `command -v module > /dev/null 2>&1 || . /etc/profile > /dev/null 2>&1\n${load}`,
    // A pod's container is of the image already.
    inside:
      image === undefined || scheduler === "kubernetes"
        ? ""
        : `apptainer exec --nv --bind ${quoted(scratch)} ${quoted(image)} `,
    gcopd: gcopd ?? (host === undefined && scheduler !== "kubernetes" ? own : "gcopd"),
  };
}
