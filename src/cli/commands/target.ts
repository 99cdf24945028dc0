import { resolve } from "node:path";
import { type Command, Option } from "commander";
import { InputError } from "../../core/errors.ts";
import { parseJsonText } from "../../core/json.ts";
import { SCHEDULERS } from "../../protocol/target.ts";
import { checkTarget } from "../../worker/launch/check.ts";
import { addTarget, readTarget, readTargets, targetsFile } from "../../worker/launch/target.ts";
import { UsageError } from "../command.ts";
import { table } from "../demo/table.ts";
import { number } from "../engine/options.ts";
import { printLine, progress } from "../io.ts";

interface AddOptions {
  host?: string;
  user?: string;
  port?: number;
  sshConfig?: string;
  scheduler?: string;
  partition?: string;
  account?: string;
  gpus?: number;
  time?: string;
  sbatch?: string[];
  slurmrestd?: string;
  rayAddress?: string;
  kubeContext?: string;
  namespace?: string;
  claim?: string;
  gpuResource?: string;
  resource?: string[];
  pod?: string;
  module?: string[];
  image?: string;
  gcopd?: string;
  scratch: string;
  model?: string[];
  pricePerGpuHour?: number;
  replace?: boolean;
}

const also = (value: string, before: string[] = []) => [...before, value];

export function register(program: Command): void {
  const target = program
    .command("target")
    .description("Manages the places where `gcopd launch` starts runs (docs/remote.md).");
  target
    .command("add <name>")
    .description(
      `Writes a target into ${targetsFile()}, which you may also edit by hand. It holds no secrets: ssh uses your own keys and configuration.`,
    )
    .requiredOption("--scratch <folder>", "absolute path of a folder there, in which each run gets its own")
    .option("--host <host>", "host, or its name in your ssh configuration (default: this machine)")
    .option("--user <user>", "user on the host")
    .option("--port <number>", "port of its ssh server", number(1))
    .option("--ssh-config <file>", "ssh configuration to use instead of ~/.ssh/config")
    .addOption(new Option("--scheduler <name>", "what starts runs there").choices(SCHEDULERS).default("none"))
    .option("--partition <name>", "Slurm's partition")
    .option("--account <name>", "Slurm's account")
    .option("--gpus <number>", "number of GPUs for a run", number(1))
    .option(
      "--time <limit>",
      "Slurm's time limit, such as 12:00:00; shortly before it, a run ends after its step",
    )
    .option(
      "--sbatch <option>",
      "another option for sbatch, such as --sbatch=--mem=64G; may be repeated",
      also,
    )
    .option(
      "--slurmrestd <url>",
      "Slurm's REST API as this machine reaches it (http://HOST:PORT, https://HOST, unix:/PATH), instead of sbatch; its token comes from SLURM_JWT",
    )
    .option("--ray-address <url>", "Ray's dashboard, as that machine reaches it")
    .option("--kube-context <name>", "context of your kubeconfig (default: its current one)")
    .option("--namespace <name>", "Kubernetes namespace (default: the context's)")
    .option("--claim <name>", "persistent volume claim that holds the scratch folder")
    .option("--gpu-resource <name>", "what Kubernetes calls a GPU (default: nvidia.com/gpu)")
    .option(
      "--resource <name=amount>",
      "what else a run asks of Kubernetes, such as --resource memory=64Gi; may be repeated",
      also,
    )
    .option("--pod <json>", "further fields of the pod's spec, such as nodeSelector and tolerations, as JSON")
    .option("--module <name>", "load this module first; may be repeated", also)
    .option("--image <image>", "run inside this Apptainer image; with Kubernetes, the container image")
    .option(
      "--gcopd <command>",
      "command that runs gcopd there (default: gcopd; on this machine, this installation)",
    )
    .option(
      "--model <name=folder>",
      "a model folder there, which configs name as target:NAME; may be repeated",
      also,
    )
    .option("--price-per-gpu-hour <price>", "what you pay for one GPU-hour", number(0))
    .option("--replace", "replace the target with that name")
    .action(async (name: string, options: AddOptions) => {
      const { sshConfig, rayAddress, module: modules, model, pricePerGpuHour, replace, ...others } = options;
      const { kubeContext, gpuResource, resource, pod, ...rest } = others;
      const given = {
        ...rest,
        ssh_config: sshConfig === undefined ? undefined : resolve(sshConfig),
        ray_address: rayAddress,
        kube_context: kubeContext,
        gpu_resource: gpuResource,
        resources: resource === undefined ? undefined : Object.fromEntries(resource.map(namedAmount)),
        pod: pod === undefined ? undefined : parseJsonText(pod, { file: "--pod" }),
        modules,
        models: model === undefined ? undefined : Object.fromEntries(model.map(namedFolder)),
        price_per_gpu_hour: pricePerGpuHour,
      };
      await addTarget(
        name,
        Object.fromEntries(Object.entries(given).filter(([, value]) => value !== undefined)),
        { replace },
      );
      progress(`gcopd: wrote ${name} into ${targetsFile()}; try it with gcopd target check ${name}`);
    });
  target
    .command("list")
    .description("Prints the targets.")
    .option("--json", "as JSON")
    .action(({ json }: { json?: boolean }) => {
      const targets = readTargets();
      const rows = Object.entries(targets).map(([name, { host, scheduler, partition, gpus, scratch }]) => [
        name,
        scheduler === "kubernetes" ? "" : (host ?? "this machine"),
        scheduler === "none" ? "" : `${scheduler}${partition === undefined ? "" : ` ${partition}`}`,
        gpus ?? "",
        scratch,
      ]);
      if (json) printLine(JSON.stringify(targets, null, 2));
      else if (rows.length === 0)
        progress(`gcopd: no targets in ${targetsFile()}; add one with gcopd target add`);
      else printLine(table(["target", "host", "scheduler", "GPUs", "scratch"], rows));
    });
  target
    .command("check <name>")
    .description(
      "Tries every step a run needs on a target, and says what is missing and what to do. Exits with 1 when something is missing.",
    )
    .option("--json", "as JSON")
    .action(async (name: string, { json }: { json?: boolean }) => {
      const steps = await checkTarget(readTarget(name));
      if (json) printLine(JSON.stringify(steps, null, 2));
      else
        printLine(
          table(
            ["step", "", "found, or what to do"],
            steps.map(({ step, verdict, text }) => [step, verdict, text]),
          ),
        );
      const missing = steps.filter(({ verdict }) => verdict === "missing").map(({ step }) => step);
      if (missing.length > 0) throw new InputError(`target ${name}: missing: ${missing.join(", ")}`);
    });
}

function namedAmount(text: string): [string, string] {
  const [, name, amount] = /^([^=]+)=(.+)$/.exec(text) ?? [];
  if (name === undefined || amount === undefined)
    throw new UsageError(`--resource: expected NAME=AMOUNT, got ${JSON.stringify(text)}`);
  return [name, amount];
}

function namedFolder(text: string): [string, string] {
  const [, name, folder] = /^([^=]+)=(.+)$/.exec(text) ?? [];
  if (name === undefined || folder === undefined)
    throw new UsageError(`--model: expected NAME=FOLDER, got ${JSON.stringify(text)}`);
  return [name, folder];
}
