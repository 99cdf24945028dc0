/** Runs of this page in the list of runs: written down as they go, and read again after a reload. */
import { InputError } from "../../../core/errors.ts";
import { ENDED } from "../../../protocol/job-state.ts";
import { loopEventProblem } from "../../../protocol/loop-event.ts";
import { nextTask } from "../../base/next-task.ts";
import { foldEvents, withUnread } from "./fold.ts";
import { dropKept, hasCheckpoint, keepRun, keptRun, keptRuns } from "./page-archive.ts";
import { type Figures, NO_FIGURES, type Run } from "./run.ts";
import { leaveRun, ownedRuns, ownRun } from "./run-locks.ts";
import { dropRun, getRuns, newRun, patchRun, putRun, useRuns } from "./runs-store.ts";
import { tellTabs } from "./tab-channel.ts";

/** Milliseconds between two writings of a run that goes on. */
const KEEP_MS = 3000;

const plans = new Map<string, unknown>();
const written = new Map<string, number>();

/**
 * Makes this tab the owner of a run.
 *
 * @throws InputError where another tab has it
 */
export async function takePageRun(id: string): Promise<void> {
  await ending.get(id);
  if (!(await ownRun(id)))
    throw new InputError("another tab of this browser has this run, and it goes on there");
}

/** A run of this tab that begins, or goes on under its id. `plan` is what it would go on with. */
export function beginPageRun(run: Pick<Run, "id" | "title" | "config">, plan: unknown): void {
  plans.set(run.id, plan);
  const known = getRuns().runs[run.id];
  putRun({
    ...(known ?? newRun({ ...run, where: "page" })),
    state: "starting",
    message: null,
    ended: null,
    stream: "live",
  });
  useRuns.setState({ latest: run.id });
  void write(run.id);
}

/** What a run of this tab would go on with, as it is known now. */
export function keepPlan(id: string, plan: unknown): Promise<void> {
  plans.set(id, plan);
  return write(id);
}

/** Runs that are being written down for the last time. */
const ending = new Map<string, Promise<void>>();

/** How a run ended; its last checkpoint stays, as its student. Other tabs may have it once that is written down. */
export function endPageRun(id: string, state: "done" | "cancelled" | "failed", message: string | null): void {
  patchRun(id, { state, message, ended: new Date().toISOString(), stream: "closed" });
  const written = write(id).then(() => leaveRun(id));
  ending.set(id, written);
}

/** Writes a run down, now and then. */
export function notePageRun(id: string): void {
  if (performance.now() - (written.get(id) ?? 0) > KEEP_MS) void write(id);
}

/** One after the other: what is written last is what holds. */
let writing: Promise<void> = Promise.resolve();

function write(id: string): Promise<void> {
  written.set(id, performance.now());
  writing = writing.then(async () => {
    const run = getRuns().runs[id];
    if (run === undefined) return;
    const { figures: _figures, stream: _stream, ...kept } = run;
    const plan = plans.get(id) ?? (await keptRun(id).catch(() => undefined))?.plan;
    // A browser that keeps nothing (a private window, a full disk) loses the list with the page, and nothing else.
    await keepRun({ ...kept, plan }).catch(() => undefined);
  });
  return writing;
}

/** The plan that a run was started with; null where the browser did not keep it. */
export async function planOfRun(id: string): Promise<unknown> {
  return plans.get(id) ?? (await keptRun(id).catch(() => undefined))?.plan ?? null;
}

/** Runs of earlier visits, and those that other tabs have. */
export async function restorePageRuns(): Promise<void> {
  try {
    const [runs, owned] = await Promise.all([keptRuns(), ownedRuns()]);
    for (const { plan, ...run } of runs) {
      const settled = ENDED.includes(run.state) || owned.has(run.id);
      const stream: Run["stream"] = owned.has(run.id) ? "other-tab" : "closed";
      // One that seems to go on, and that no tab has, may have ended since it was read.
      const read = settled
        ? { ...run, figures: await figuresOf(run.events), stream }
        : await readKeptRun(run.id);
      if (read === null || getRuns().runs[run.id] !== undefined) continue;
      plans.set(run.id, plan);
      putRun(read);
    }
  } catch {
    // Nothing is kept here: the list begins empty.
  }
  useRuns.setState({ restored: true });
}

/**
 * A run that no tab has any more, as it was written down: one that had not ended is lost with its page, and can go on
 * where it has a checkpoint. Null where it was not kept.
 */
export async function readKeptRun(id: string): Promise<Run | null> {
  const kept = await keptRun(id).catch(() => undefined);
  if (kept === undefined) return null;
  const { plan: _plan, ...run } = kept;
  const figures = await figuresOf(run.events);
  const whole = { ...run, figures, stream: "closed" as const };
  if (ENDED.includes(run.state)) return whole;
  const message = (await hasCheckpoint(id))
    ? "the page was closed; it can go on from its last checkpoint"
    : "the page was closed before its first checkpoint";
  return { ...whole, state: "lost", message };
}

/** So many events are checked at a time. */
const PIECE = 400;

/** Kept events may be of an earlier version of the page: a mark says where one cannot be read. */
async function figuresOf(events: Run["events"]): Promise<Figures> {
  let figures = NO_FIGURES;
  for (let at = 0; at < events.length; at += PIECE) {
    if (at > 0) await nextTask();
    let readable: Run["events"] = [];
    for (const event of events.slice(at, at + PIECE)) {
      const problem = loopEventProblem(event);
      if (problem === null) {
        readable.push(event);
        continue;
      }
      figures = withUnread(foldEvents(figures, readable), problem);
      readable = [];
    }
    figures = foldEvents(figures, readable);
  }
  return figures;
}

/** Calls a run of the page something else; the name is kept with it, by the tab that has the run. */
export async function renamePageRun(id: string, title: string): Promise<void> {
  patchRun(id, { title });
  if (getRuns().runs[id]?.stream !== "other-tab") await write(id);
}

/** Takes an ended run of the page away, with its student. */
export async function removePageRun(id: string): Promise<void> {
  dropRun(id);
  plans.delete(id);
  await dropKept(id).catch(() => undefined);
  tellTabs({ type: "removed", id });
}
