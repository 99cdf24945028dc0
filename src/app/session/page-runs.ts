/** Runs of this page in the list of runs: written down as they go, and read again after a reload. */
import { foldEvents, withUnread } from "../runs/fold.ts";
import { loopEventProblem } from "../runs/loop-event.ts";
import { nextTask } from "../runs/next-task.ts";
import { dropKept, keepRun, keptCheckpoints, keptRun, keptRuns } from "../runs/page-archive.ts";
import { ENDED, type Figures, NO_FIGURES, type Run } from "../runs/run.ts";
import { dropRun, getRuns, newRun, patchRun, putRun, useRuns } from "../runs/runs-store.ts";

/** Milliseconds between two writings of a run that goes on. */
const KEEP_MS = 3000;

const plans = new Map<string, unknown>();
const written = new Map<string, number>();

/** A run that begins, or goes on under its id. `plan` is what it would go on with. */
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

/** How a run ended; one that is done needs no checkpoint any more. */
export function endPageRun(id: string, state: "done" | "cancelled" | "failed", message: string | null): void {
  patchRun(id, { state, message, ended: new Date().toISOString(), stream: "closed" });
  void write(id);
  if (state === "done") void dropKept(id, "checkpoint").catch(() => undefined);
}

/** Writes a run down, now and then. */
export function notePageRun(id: string): void {
  if (performance.now() - (written.get(id) ?? 0) > KEEP_MS) void write(id);
}

async function write(id: string): Promise<void> {
  const run = getRuns().runs[id];
  if (run === undefined) return;
  written.set(id, performance.now());
  const { figures: _figures, stream: _stream, ...kept } = run;
  // A browser that keeps nothing (a private window, a full disk) loses the list with the page, and nothing else.
  await keepRun({ ...kept, plan: plans.get(id) ?? (await keptRun(id).catch(() => undefined))?.plan }).catch(
    () => undefined,
  );
}

/** The plan that a run was started with; null where the browser did not keep it. */
export async function planOfRun(id: string): Promise<unknown> {
  return plans.get(id) ?? (await keptRun(id).catch(() => undefined))?.plan ?? null;
}

/** Runs of earlier visits. One that was going on is lost with the page, and can go on where it has a checkpoint. */
export async function restorePageRuns(): Promise<void> {
  try {
    const [runs, checkpoints] = await Promise.all([keptRuns(), keptCheckpoints()]);
    for (const { plan, ...run } of runs) {
      const figures = await figuresOf(run.events);
      if (getRuns().runs[run.id] !== undefined) continue;
      plans.set(run.id, plan);
      const going = !ENDED.includes(run.state);
      const lost = checkpoints.includes(run.id)
        ? "the page was closed; it can go on from its last checkpoint"
        : "the page was closed before its first checkpoint";
      putRun({
        ...run,
        figures,
        stream: "closed",
        ...(going ? { state: "lost" as const, message: lost } : {}),
      });
    }
  } catch {
    // Nothing is kept here: the list begins empty.
  }
  useRuns.setState({ restored: true });
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

/** Calls a run of the page something else; the name is kept with it. */
export async function renamePageRun(id: string, title: string): Promise<void> {
  patchRun(id, { title });
  await write(id);
}

/** Takes an ended run of the page away, with its checkpoint. */
export async function removePageRun(id: string): Promise<void> {
  dropRun(id);
  plans.delete(id);
  await dropKept(id, "all").catch(() => undefined);
}
