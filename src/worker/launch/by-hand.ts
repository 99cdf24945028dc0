/** A run as a script that can be read, and run without `gcopd launch`: what it would send, and what it would start. */

import type { Target } from "../../protocol/target.ts";
import type { RemoteConfig } from "./remote-config.ts";
import { runFolder, trainCommand } from "./runs.ts";
import { quoted } from "./shell.ts";
import { resourceOptions } from "./slurm.ts";

/** Name of its folder beside those of launched runs. */
const BY_HAND = "by-hand";

export function scriptByHand(
  { name, is }: { name: string; is: Target },
  { config, carried }: Pick<RemoteConfig, "config" | "carried">,
): string {
  const folder = runFolder(is, BY_HAND);
  const { before, command } = trainCommand(is);
  const slurm = is.scheduler === "slurm";
  const options = [
    "--job-name=gcopd-by-hand",
    "--no-requeue",
    // Two minutes before the time limit: gcopd ends after its step at the first SIGTERM.
    "--signal=B:TERM@120",
    ...resourceOptions(is),
  ];
  const first = carried.length === 0 ? [] : ["first, on this machine:", ...sending(is, folder, carried)];
  return [
    "#!/bin/sh",
    ...(slurm ? options.map((option) => `#SBATCH ${option}`) : []),
    `# What gcopd launch does on the target ${name}, by hand. On it: ${starting(is)} and the name of this file`,
    ...first.map((line) => `# ${line}`),
    `mkdir -p ${quoted(folder)} && cd ${quoted(folder)} || exit 72`,
    "cat > config.json <<'END_OF_CONFIG'",
    JSON.stringify(config, null, 2),
    "END_OF_CONFIG",
    `${before}exec ${command}`,
    "",
  ].join("\n");
}

/** What starts the script there. */
function starting({ scheduler, ray_address: address, gpus, claim }: Target): string {
  if (scheduler === "slurm") return "sbatch";
  if (scheduler === "none") return "sh";
  if (scheduler === "kubernetes") return `sh, in a pod that mounts the claim ${claim},`;
  const at = address === undefined ? "" : ` --address ${quoted(address)}`;
  return `ray job submit${at}${gpus === undefined ? "" : ` --entrypoint-num-gpus ${gpus}`} -- sh`;
}

/** Commands that bring its inputs to where the config looks for them. */
function sending(
  { host, user, port, ssh_config: file, scheduler }: Target,
  folder: string,
  carried: RemoteConfig["carried"],
): string[] {
  if (scheduler === "kubernetes")
    return [
      `kubectl exec POD -- mkdir -p ${folder}/in`,
      ...carried.map(({ from, to }) => `kubectl cp ${quoted(from)} POD:${folder}/${to}`),
    ];
  if (host === undefined)
    return [
      `mkdir -p ${quoted(`${folder}/in`)}`,
      ...carried.map(({ from, to }) => `cp -r ${quoted(from)} ${quoted(`${folder}/${to}`)}`),
    ];
  const place = user === undefined ? host : `${user}@${host}`;
  const config = file === undefined ? "" : `-F ${quoted(file)} `;
  const at = (flag: string) => (port === undefined ? config : `${config}${flag} ${port} `);
  return [
    `ssh ${at("-p")}${place} mkdir -p ${folder}/in`,
    ...carried.map(({ from, to }) => `scp -r ${at("-P")}${quoted(from)} ${place}:${folder}/${to}`),
  ];
}
