/** Following a run to its end, through every fault: its output becomes events. */
import { join } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import { raceAgainst } from "../../core/race-against.ts";
import { type JobProcess, OUTPUT_FILE } from "./launcher.ts";
import { readLines, toEvent } from "./output.ts";
import { reasonOf } from "./reason.ts";
import type { Begun, RunContext } from "./run-context.ts";
import { settleRun } from "./settle-run.ts";
import { StoreFault } from "./store-fault.ts";

/** So often the rest of an ended run's output is looked for; a job cannot wait for its disk for ever. */
const FINAL_READS = 30;

/** One attempt of a job, from before its launch until its end is written down. */
export interface Attempt {
  /** Null until it has begun. */
  run: JobProcess | null;
  /** Its process is gone, or there never was one: it no longer holds its lane. */
  over: boolean;
}

export interface FollowHooks {
  /** After the first look. */
  looked(): void;
  /** The run no longer holds its lane, though its end is not written down. */
  freed(): void;
}

/** Follows a run to its end, and writes down how it ended. */
export async function followRun(
  context: RunContext,
  id: string,
  attempt: Attempt,
  begun: Begun,
  { looked, freed }: FollowHooks,
): Promise<void> {
  attempt.run = begun.run;
  let end = begun.run === null ? begun.end : null;
  let noted = false;
  const orEnded = begun.run === null ? null : raceAgainst(begun.run.ended);
  for (let reads = 1; ; ) {
    const final = end !== null;
    attempt.over = final;
    let pauseMs = context.pollMs;
    try {
      if (!noted) noteRun(context, id, begun);
      noted = true;
      const unread = drainOr(context, id, final, reads === FINAL_READS);
      if (unread === null) context.faults.over(id);
      if (end !== null) {
        settleRun(context, id, end, unread);
        return;
      }
    } catch (error) {
      pauseMs = context.retryMs;
      const what = final
        ? "its process has ended; its output cannot be read"
        : "its output cannot be read now";
      context.faults.tell(id, `${what}: ${reasonOf(error)}`, error);
      if (final && context.closing.aborted) return;
      if (final && !(error instanceof StoreFault)) reads += 1;
      if (final) freed();
    }
    looked();
    const pause = sleep(pauseMs, null);
    end ??= await (orEnded === null ? pause : orEnded(pause));
    if (final) await pause;
  }
}

/** Writes down that a run is there. Whoever cancelled it meanwhile found none to stop. */
function noteRun({ jobs, closing }: RunContext, id: string, { run, message }: Begun): void {
  if (run === null) return;
  const found = { run: run.name, message };
  if (jobs.move(id, ["starting", "running"], "running", found) === null) {
    if (message !== null) jobs.move(id, ["cancelling"], "cancelling", found);
    run.stop();
  }
  if (closing.aborted) run.stop();
}

/** `drain`; the last time, what keeps the output from being read is returned in place of being thrown. */
function drainOr(context: RunContext, id: string, final: boolean, last: boolean): string | null {
  try {
    drain(context, id, final);
    return null;
  } catch (error) {
    if (error instanceof StoreFault || !last) throw error;
    return `its output could not be read to its end: ${reasonOf(error)}`;
  }
}

/** Turns new output into events. */
function drain({ store, folders, jobs }: RunContext, id: string, final: boolean): void {
  for (let more = true; more; ) {
    const job = jobs.get(id);
    const file = join(folders.attemptFolder(id, job.attempt), OUTPUT_FILE);
    const part = readLines(file, job.outputOffset, { final });
    more = part.more;
    if (part.offset === job.outputOffset) return;
    const events = part.lines.map(toEvent).filter((event) => event !== null);
    store.appendOutput(id, events, part.offset);
    jobs.notify(id);
  }
}
