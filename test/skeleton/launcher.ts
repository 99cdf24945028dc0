/**
 * A small launcher: `spool SCRIPT…` is the scheduler's own command, which starts a script and returns. To start one of
 * your own, copy this file to `src/worker/launch/<name>.ts` and enter `spool` in `KINDS` of `target.ts`.
 */
import {
  attemptFolder,
  COMMAND_FILE,
  folderLauncher,
  runScript,
  type Scheduler,
} from "../../src/worker/launch/folder-launcher.ts";
import type { Attempt, RunLauncher } from "../../src/worker/launch/launcher.ts";
import type { SchedulerKind } from "../../src/worker/launch/scheduler-kind.ts";
import { quoted, type Shell, script } from "../../src/worker/launch/shell.ts";

/** The same name for the same attempt, so that the scheduler refuses a second submission. */
const jobName = ({ id, number }: Attempt): string => `gcopd-${id}-${number}`;

export function spoolLauncher(shell: Shell): RunLauncher {
  const scheduler: Scheduler = {
    // `run.sh begin` takes the attempt's claim: called twice, it starts one process.
    submit: (_, run) =>
      script(shell, runScript, "begin", attemptFolder(run), "sh", `${run.folder}/${COMMAND_FILE}`),
    ask: {
      // A scheduler with a queue is asked here, such as `squeue --name`; this one starts everything at once.
      there: (run) => `echo "scheduler GONE ${quoted(jobName(run))}"`,
      read: (line) => ({
        state: line.startsWith("GONE") ? "gone" : "silent",
        reason: null,
        expected: null,
      }),
    },
    // What has begun is ended through its folder; only what still waits would be taken out of a queue here.
    remove: async () => undefined,
  };
  return folderLauncher(shell, scheduler);
}

export const spool: SchedulerKind = {
  launcher: spoolLauncher,
  checkThere: () => `say spool ok "$(command -v sh)"`,
  // The script that waits ends its own processes.
  plan: () => ({ run: "sh plan.sh", end: ":" }),
  byHand: () => ({ start: "sh" }),
};
