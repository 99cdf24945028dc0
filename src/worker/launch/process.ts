/** Runs as processes of the machine that the shell is on: of this one, or of one over ssh. */
import { attemptFolder, COMMAND_FILE, folderLauncher, runScript, type Scheduler } from "./folder-launcher.ts";
import type { RunLauncher } from "./launcher.ts";
import type { SchedulerKind } from "./scheduler-kind.ts";
import { type Shell, script } from "./shell.ts";

/** There is no queue: what was begun runs. */
const noScheduler: Scheduler = {
  submit: (shell, run) =>
    script(shell, runScript, "begin", attemptFolder(run), "sh", `${run.folder}/${COMMAND_FILE}`),
  ask: null,
  remove: async () => undefined,
};

export function processLauncher(shell: Shell): RunLauncher {
  return folderLauncher(shell, noScheduler);
}

const GPUS = `if said=$(nvidia-smi -L 2> /dev/null) && [ -n "$said" ]; then say gpu ok "$(echo "$said" | wc -l | tr -d ' ') seen: $(echo "$said" | head -n 1 | cut -d '(' -f 1)"
elif ls /dev/dri/renderD* > /dev/null 2>&1; then say gpu ok "$(ls /dev/dri/renderD* | head -n 1)"
else say gpu note "no GPU is visible: a run will use the CPU, slowly"; fi`;

/** The script that waits ends its own processes. */
export const HERE = { run: "sh plan.sh", end: ":" };

export const processes: SchedulerKind = {
  launcher: processLauncher,
  checkThere: () => GPUS,
  plan: () => HERE,
  byHand: () => ({ start: "sh" }),
};
