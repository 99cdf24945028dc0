/** Targets: the places where a user launches runs, in a file of the user's own that holds no secret (docs/remote.md). */
import { existsSync, readFileSync } from "node:fs";
import { homedir } from "node:os";
import { isAbsolute, join } from "node:path";
import { z } from "zod";
import { InputError } from "../../core/errors.ts";
import { parseJsonText } from "../../core/json.ts";
import { checkedBy } from "../../core/record/describe-issue.ts";
import { onFileSync } from "../../node/file-error.ts";
import { PACKAGE } from "../../node/package-root.ts";
import { makeFolder, writeWholeSync } from "../../node/whole-file.ts";
import { type Target, targetFields, there } from "../../protocol/target.ts";
import { doorShell, type KubernetesPlace, kubernetesLauncher } from "./kubernetes.ts";
import type { RunLauncher } from "./launcher.ts";
import { processLauncher } from "./process.ts";
import { rayLauncher } from "./ray.ts";
import { quoted, type Shell, thisMachine } from "./shell.ts";
import { slurmLauncher } from "./slurm.ts";
import { slurmRestLauncher } from "./slurmrestd.ts";
import { minutesOf, optionProblem } from "./slurmrestd-job.ts";
import { sshShell } from "./ssh.ts";

/** Stands before a path of the target, or the name of one of its models. */
export const ON_TARGET = "target:";

/** Keys that count only beside another; on their own they would be ignored in silence. */
const ONLY_WITH = {
  host: ["user", "port", "ssh_config"],
  "scheduler slurm": ["partition", "account", "time", "sbatch", "slurmrestd"],
  "scheduler ray": ["ray_address"],
  "scheduler kubernetes": ["kube_context", "namespace", "claim", "gpu_resource", "resources", "pod"],
} as const;

/** A target whose keys go together. */
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
