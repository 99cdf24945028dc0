/** Runs as jobs of Slurm, submitted by `sbatch` from a shell of a login node. */
import { InputError } from "../../core/errors.ts";
import {
  attemptFolder,
  COMMAND_FILE,
  folderLauncher,
  type Queued,
  type Scheduler,
} from "./folder-launcher.ts";
import type { Attempt, RunLauncher } from "./launcher.ts";
import { quoted, type Shell, script } from "./shell.ts";

export interface SlurmResources {
  partition?: string | undefined;
  account?: string | undefined;
  gpus?: number | undefined;
  /** As sbatch takes it, for example `12:00:00`. */
  time?: string | undefined;
  /** Further options of sbatch, each as one word. */
  sbatch?: readonly string[] | undefined;
}

/** Ids are given again, and a restarted controller forgets them: an attempt is found by its name. */
export function jobName({ id, number }: Attempt): string {
  return `gcopd-${id}-${number}`;
}

/** What a target asks of Slurm, as options of `sbatch`. */
export function resourceOptions({ partition, account, gpus, time, sbatch }: SlurmResources): string[] {
  return [
    ...(partition === undefined ? [] : [`--partition=${partition}`]),
    ...(account === undefined ? [] : [`--account=${account}`]),
    ...(gpus === undefined ? [] : [`--gres=gpu:${gpus}`]),
    ...(time === undefined ? [] : [`--time=${time}`]),
    ...(sbatch ?? []),
  ];
}

/** The script of an attempt, which `sbatch` also takes by hand. */
export function batchScript(run: Attempt, resources: SlurmResources): string {
  const attempt = attemptFolder(run);
  const options = [
    `--job-name=${jobName(run)}`,
    `--comment=gcopd:${run.id}`,
    // A second start of the same attempt would end at once: going on is a new attempt.
    "--no-requeue",
    "--open-mode=append",
    `--output=${attempt}/slurm.out`,
    // Two minutes before the time limit it is asked to end after its step.
    "--signal=B:USR1@120",
    ...resourceOptions(resources),
  ];
  const words = ["sh", `${run.folder}/run.sh`, "run", attempt, "sh", `${run.folder}/${COMMAND_FILE}`];
  return `#!/bin/sh\n${options.map((option) => `#SBATCH ${option}\n`).join("")}exec ${words.map(quoted).join(" ")}\n`;
}

/** Shell lines that leave the script in the attempt's folder. */
export function writeScript(run: Attempt, resources: SlurmResources): string {
  const attempt = attemptFolder(run);
  return `mkdir -p ${quoted(attempt)} && cat > ${quoted(`${attempt}/sbatch.sh`)} << 'END OF SCRIPT' || exit 72
${batchScript(run, resources)}END OF SCRIPT
`;
}

/**
 * Submits unless the attempt has begun or the controller has it; refuses where the controller cannot say. The name is
 * told twice: on the command line it comes before SBATCH_JOB_NAME and the target's own options.
 */
const SUBMIT = `[ ! -e "$1/claim" ] || exit 0
known=$(squeue -h -u "$(id -un)" --name "$2" -o %i) || { echo "squeue does not answer: nothing was submitted" >&2; exit 74; }
[ -z "$known" ] || exit 0
sbatch --parsable --job-name "$2" "$1/sbatch.sh" > /dev/null`;

const REMOVE = `[ "$2" = true ] || pending=--state=PENDING
scancel $pending -u "$(id -un)" --name "$1"`;

export function slurmLauncher(shell: Shell, resources: SlurmResources): RunLauncher {
  const slurm: Scheduler = {
    submit: (_, run) =>
      script(shell, `${writeScript(run, resources)}${SUBMIT}`, attemptFolder(run), jobName(run)),
    // Pending and running jobs first; of one that is gone the accounting may know why.
    ask: {
      there: (run) => `name=${quoted(jobName(run))}
queue=$(squeue -h -u "$(id -un)" --name "$name" -o '%T|%S|%r' 2>&1) || queue="SILENT||$queue"
[ -n "$queue" ] || queue=$(sacct -X -n -P -S now-30days --name "$name" -o State 2> /dev/null | tail -n 1 | sed 's/^\\(..*\\)$/GONE||\\1/')
echo "scheduler $(echo "$queue" | tail -n 1)"`,
      read: queuedState,
    },
    async remove(_, run, running) {
      const answer = await script(shell, REMOVE, jobName(run), String(running));
      if (answer.code !== 0)
        throw new InputError(
          `${shell.place}: a run that has begun was asked, but one that waits is still in the queue: scancel: ${answer.err}`,
        );
    },
  };
  return folderLauncher(shell, slurm);
}

/** `STATE|START|REASON`, or nothing for a job that the controller does not know. */
export function queuedState(line: string): Queued {
  const [word = "", start = "", ...rest] = line.split("|");
  const reason = rest.join("|").trim();
  const facts = {
    reason: reason === "" || reason === "None" ? null : reason,
    expected: /^\d{4}-/.test(start) ? start : null,
  };
  if (word === "SILENT") return { ...facts, state: "silent", reason: `Slurm does not answer: ${reason}` };
  if (/^(PENDING|CONFIGURING|REQUEUED|REQUEUE_HOLD|SUSPENDED)$/.test(word))
    return { ...facts, state: "pending" };
  if (/^(RUNNING|COMPLETING|STAGE_OUT|SIGNALING|STOPPED)$/.test(word)) return { ...facts, state: "running" };
  return { ...facts, state: "gone" };
}
