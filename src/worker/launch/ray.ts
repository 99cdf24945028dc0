/** Runs as jobs of a Ray cluster, submitted by `ray job` from a shell of a machine that reaches its dashboard. */
import {
  attemptFolder,
  COMMAND_FILE,
  folderLauncher,
  type Queued,
  type Scheduler,
} from "./folder-launcher.ts";
import type { Attempt, RunLauncher } from "./launcher.ts";
import { gpuNote, PLAN_ID, type SchedulerKind } from "./scheduler-kind.ts";
import { quoted, type Shell, script } from "./shell.ts";

export interface RayResources {
  /** URL of the dashboard; `ray` finds the cluster by itself when absent. */
  ray_address?: string | undefined;
  gpus?: number | undefined;
}

/** Ray takes an id once for all time, so that no attempt can be submitted twice. */
const submissionId = ({ id, number }: Attempt): string => `gcopd-${id}-${number}`;

/** `ray job`, with the address of the cluster; `ray_job WORD OPTION...` in a script. */
function rayJob(address: string | undefined): string {
  const at = address === undefined ? "" : ` --address ${quoted(address)}`;
  return `ray_job() { word=$1; shift; ray job "$word"${at} --log-style record "$@"; }`;
}

/** `sh RUN.SH run ATTEMPT sh COMMAND`: Ray joins the words by rules of its own, and none of these needs a quote. */
const SUBMIT = `mkdir -p "$1" || exit 72
[ ! -e "$1/claim" ] || exit 0
id=$2
shift 2
said=$(ray_job submit --no-wait --submission-id "$id" "$@" 2>&1) && exit 0
case $said in *"already exists"*) exit 0 ;; esac
echo "$said" | sed '/^[. ]*$/d' | tail -n 1 >&2
exit 74`;

export function rayLauncher(shell: Shell, { ray_address: address, gpus }: RayResources): RunLauncher {
  const cluster: Scheduler = {
    submit(_, run) {
      const attempt = attemptFolder(run);
      const words = ["sh", `${run.folder}/run.sh`, "run", attempt, "sh", `${run.folder}/${COMMAND_FILE}`];
      const asks = gpus === undefined ? [] : ["--entrypoint-num-gpus", String(gpus)];
      return script(
        shell,
        `${rayJob(address)}\n${SUBMIT}`,
        ...[attempt, submissionId(run), ...asks, "--", ...words],
      );
    },
    ask: {
      there: (run) => `${rayJob(address)}
said=$(ray_job status ${quoted(submissionId(run))} 2>&1)
state=$(echo "$said" | sed -n "s/.*Status for job '[^']*': \\([A-Z]*\\).*/\\1/p; s/.* -- Job '[^']*' \\(was stopped\\|succeeded\\|failed\\).*/GONE/p; s/.*status code 404:.* does not exist.*/GONE/p" | head -n 1)
message=$(echo "$said" | sed -n 's/.*Status message: //p' | head -n 1)
[ -n "$message" ] || message=$(echo "$said" | sed '/^[. ]*$/d' | tail -n 1)
echo "scheduler \${state:-SILENT}|$message"`,
      read: queuedState,
    },
    // Ray keeps a job that waits although it is told to stop it, and kills a running one before it can leave word. Either
    // sees in its folder what was asked.
    remove: async () => undefined,
  };
  return folderLauncher(shell, cluster);
}

/** `STATE|MESSAGE`. */
function queuedState(line: string): Queued {
  const at = line.indexOf("|");
  const [word, reason] = [line.slice(0, at), line.slice(at + 1).trim()];
  const facts = { reason: reason === "" ? null : reason, expected: null };
  if (word === "PENDING") return { ...facts, state: "pending" };
  if (word === "RUNNING") return { ...facts, state: "running" };
  if (word === "GONE") return { ...facts, state: "gone" };
  return { ...facts, state: "silent", reason: `Ray does not answer: ${reason}` };
}

const asked = (gpus: number | undefined): string =>
  gpus === undefined ? "" : ` --entrypoint-num-gpus ${gpus}`;

export const ray: SchedulerKind = {
  launcher: rayLauncher,
  checkThere: (
    target,
  ) => `if ! command -v ray > /dev/null; then say ray missing "there is no ray: name a machine that has it, or put it on the PATH of non-login shells"
else
  ${rayJob(target.ray_address)}
  said=$(ray_job list 2>&1) && say ray ok "$(command -v ray)" ||
    say ray missing "$(echo "$said" | sed '/^[. ]*$/d' | last): check that the cluster runs, and ray_address"
fi
${gpuNote(target)}`,
  plan: ({ ray_address: address, gpus }) => ({
    run: `${rayJob(address)}
ray_job submit --submission-id ${PLAN_ID}${asked(gpus)} -- sh "$1/plan.sh"`,
    end: `${rayJob(address)}
ray_job stop --no-wait ${PLAN_ID}`,
  }),
  byHand({ ray_address: address, gpus }) {
    const at = address === undefined ? "" : ` --address ${quoted(address)}`;
    return { start: `ray job submit${at}${asked(gpus)} -- sh` };
  },
};
