/** How a job comes to a run: launched, or found again after a previous worker. */
import { mkdirSync } from "node:fs";
import { setTimeout as sleep } from "node:timers/promises";
import { passingFault } from "../../node/file-error.ts";
import { ACTIVE } from "../../protocol/job-state.ts";
import { commandArgs } from "./command.ts";
import type { JobFolders } from "./job-folders.ts";
import { now } from "./job-list.ts";
import type { ProcessSpec } from "./launcher.ts";
import { reasonOf } from "./reason.ts";
import { type Begun, type RunContext, untilDone } from "./run-context.ts";
import type { StoredJob } from "./store.ts";

/** Launches a job's run; null when the job was withdrawn, or could not be run. */
export async function launchRun(context: RunContext, job: StoredJob): Promise<Begun | null> {
  const { launcher, folders, jobs, faults, retryMs } = context;
  const { id } = job;
  for (;;) {
    try {
      mkdirSync(folders.outFolder(id), { recursive: true });
      return { run: await launcher.launch(specOf(folders, job)), message: null };
    } catch (error) {
      const passing = passingFault(error);
      if (passing === null) {
        const failed = { message: `it could not be run: ${reasonOf(error)}`, ended_at: now() };
        await untilDone(
          context,
          () =>
            jobs.move(id, ["cancelling"], "cancelled", failed) ??
            jobs.move(id, ["starting"], "failed", failed),
        );
        return null;
      }
      faults.tell(id, `it cannot be started yet: ${passing}`);
    }
    await sleep(retryMs);
    const withdrawn = await untilDone(context, () => withdraw(context, id));
    if (withdrawn !== null) return null;
  }
}

/** Finds the run of a job that a previous worker started; null when it never began. `looked` after a first fault. */
export async function findRun(
  context: RunContext,
  job: StoredJob,
  looked: () => void,
): Promise<Begun | null> {
  const { launcher, folders, jobs, faults } = context;
  return untilDone(
    context,
    async () => {
      const recovered = await launcher.recover(specOf(folders, job));
      if (recovered.kind === "running")
        return { run: recovered.run, message: "the worker was started again; the run went on meanwhile" };
      if (recovered.kind === "ended") return { run: null, end: recovered.end };
      const message = "the worker was started again before the run began";
      if (withdraw(context, job.id) === null) jobs.move(job.id, ACTIVE, "queued", { message });
      return null;
    },
    (error) => {
      faults.tell(job.id, `it is not known whether its process is there: ${reasonOf(error)}`, error);
      looked();
    },
  );
}

/** Takes down that a job which has no run yet will have none; null when it still should. */
function withdraw({ jobs, closing }: RunContext, id: string): StoredJob | null {
  const message = "it had not begun";
  const cancelled = jobs.move(id, ["cancelling"], "cancelled", { ended_at: now(), message });
  if (cancelled !== null || !closing.aborted) return cancelled;
  return jobs.move(id, ["starting"], "queued", { message: "the worker was closed before it began" });
}

function specOf(folders: JobFolders, { id, attempt, request }: StoredJob): ProcessSpec {
  return {
    job: id,
    attempt,
    args: commandArgs(request, folders.outFolder(id)),
    folder: folders.attemptFolder(id, attempt),
  };
}
