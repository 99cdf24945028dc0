/** What the end of a run makes of its job: done, cancelled, failed, or lost and perhaps queued once more. */
import { BUDGET_EXIT_CODE } from "../../core/loop/budget.ts";
import { ACTIVE } from "../../protocol/job-state.ts";
import type { JobFolders } from "./job-folders.ts";
import { now } from "./job-list.ts";
import type { ProcessEnd } from "./launcher.ts";
import { lastLine } from "./output.ts";
import { reasonOf } from "./reason.ts";
import type { RunContext } from "./run-context.ts";
import { describeEnd, interruption, isInterruption } from "./run-end.ts";
import type { StoredJob } from "./store.ts";

/** A lost job goes on by itself this many times without any progress; then a person has to say so. */
const MAX_FRUITLESS = 3;

/**
 * Writes down how a run ended. Done again after a fault it does what is left to do.
 *
 * @param unread what kept its output from being read to its end
 */
export function settleRun(context: RunContext, id: string, end: ProcessEnd, unread: string | null): void {
  const { jobs, folders, closing } = context;
  const { state, attempt } = jobs.get(id);
  const ended = { ended_at: now(), exit_code: end.kind === "exit" ? end.code : null };
  const message = (...parts: (string | null)[]) =>
    [...parts, unread].filter((part) => part !== null).join("; ") || null;
  if (end.kind === "exit" && end.code === 0) {
    const late = state === "cancelling" ? "it was done before it could be cancelled" : null;
    jobs.move(id, ACTIVE, "done", { ...ended, message: message(late) });
  } else if (end.kind === "exit" && end.code === BUDGET_EXIT_CODE) {
    jobs.move(id, ACTIVE, "cancelled", { ...ended, message: message(lastWords(folders, id, attempt)) });
  } else if (state === "cancelling" && (end.kind !== "exit" || isInterruption(end))) {
    jobs.move(id, ACTIVE, "cancelled", { ...ended, message: message() });
  } else if (closing.aborted || isInterruption(end)) {
    const why = closing.aborted && !end.memory ? "stopped because the worker was closed" : interruption(end);
    jobs.move(id, ACTIVE, "lost", { ...ended, message: message(why) });
    if (!end.memory) resumeByItself(context, jobs.get(id));
  } else {
    const log = lastWords(folders, id, attempt);
    const how = describeEnd(end);
    jobs.move(id, ACTIVE, "failed", {
      ...ended,
      message: message(log === null ? how : `${log} (${how})`),
    });
  }
}

/** What the command said last on its standard error. */
function lastWords(folders: JobFolders, id: string, attempt: number): string | null {
  try {
    return lastLine(folders.logFile(id, attempt));
  } catch (error) {
    return `its log cannot be read: ${reasonOf(error)}`;
  }
}

function resumeByItself({ jobs, closing }: RunContext, job: StoredJob): void {
  if (job.state !== "lost" || job.request.resume !== "auto") return;
  if (job.fruitless >= MAX_FRUITLESS) {
    const message = `lost ${MAX_FRUITLESS + 1} times without progress: resume it by hand`;
    jobs.move(job.id, ["lost"], "lost", { message });
    return;
  }
  // Closing the worker is not a fault of the job's.
  const fruitless = job.fruitless + (closing.aborted ? 0 : 1);
  jobs.move(job.id, ["lost"], "queued", { message: "it goes on by itself", ended_at: null, fruitless });
}
