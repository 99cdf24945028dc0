/** Slurm, by `sbatch` in a shell of a login node or over slurmrestd. */
import type { Target } from "../../protocol/target.ts";
import { gpuNote, type KeyProblem, PLAN_ID, type SchedulerKind } from "./scheduler-kind.ts";
import { quoted } from "./shell.ts";
import { resourceOptions, slurmLauncher } from "./slurm.ts";
import { checkSlurmRest, slurmRestLauncher } from "./slurmrestd.ts";
import { minutesOf, optionProblem } from "./slurmrestd-job.ts";

export const slurm: SchedulerKind = {
  /** slurmrestd takes no text of sbatch: times and options must be known. */
  problems({ slurmrestd, time, sbatch = [] }) {
    if (slurmrestd === undefined) return [];
    const problems: KeyProblem[] = [];
    if (time !== undefined && minutesOf(time) === null)
      problems.push({ path: ["time"], message: "expected MINUTES, HOURS:MINUTES:SECONDS or DAYS-HOURS" });
    for (const [index, option] of sbatch.entries()) {
      const message = optionProblem(option);
      if (message !== null) problems.push({ path: ["sbatch", index], message });
    }
    return problems;
  },
  launcher: (shell, { slurmrestd, ...resources }) =>
    slurmrestd === undefined
      ? slurmLauncher(shell, resources)
      : slurmRestLauncher(shell, { ...resources, slurmrestd }),
  checkThere: (target) =>
    target.slurmrestd === undefined ? `${checkSbatch(target)}\n${gpuNote(target)}` : gpuNote(target),
  checkHere: async ({ slurmrestd, partition }) =>
    slurmrestd === undefined ? [] : checkSlurmRest(slurmrestd, partition),
  plan: ({ slurmrestd }) =>
    slurmrestd === undefined
      ? {
          run: `sbatch --wait --parsable --job-name ${PLAN_ID} plan.sh`,
          end: `scancel -u "$(id -un)" --name ${PLAN_ID}`,
        }
      : null,
  byHand: (target) => ({
    head: [
      "--job-name=gcopd-by-hand",
      "--no-requeue",
      // Two minutes before the time limit: gcopd ends after its step at the first SIGTERM.
      "--signal=B:TERM@120",
      ...resourceOptions(target),
    ].map((option) => `#SBATCH ${option}`),
    start: "sbatch",
  }),
};

const checkSbatch = (
  target: Target,
): string => `if ! command -v sbatch > /dev/null; then say sbatch missing "there is no sbatch: name a login node of the cluster as the host"
else
  say sbatch ok "$(command -v sbatch)"
  said=$(sbatch --test-only ${resourceOptions(target).map(quoted).join(" ")} --wrap true 2>&1) && say job ok "$(echo "$said" | last)" ||
    say job missing "$(echo "$said" | last): check partition, account, gpus and time"
fi`;
