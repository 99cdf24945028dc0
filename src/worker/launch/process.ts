/** Runs as processes of the machine that the shell is on: of this one, or of one over ssh. */
import { attemptFolder, COMMAND_FILE, folderLauncher, runScript, type Scheduler } from "./folder-launcher.ts";
import type { RunLauncher } from "./launcher.ts";
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
