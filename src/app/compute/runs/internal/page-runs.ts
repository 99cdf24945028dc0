/** Runs of this page in the list of runs: written down as they go, and read again after a reload. */
import { InputError } from "../../../../core/errors.ts";
import { ENDED } from "../../../../protocol/job-state.ts";
import { loopEventProblem } from "../../../../protocol/loop-event.ts";
import { nextTask } from "../../../base/next-task.ts";
import { Turns } from "../../../base/turns.ts";
import { type Figures, NO_FIGURES, type Run } from "../run.ts";
import { type RunLocks, runLocks } from "../run-locks.ts";
import { dropRun, getRuns, newRun, patchRun, putRun, useRuns } from "../runs-store.ts";
import { tellTabs } from "../tab-channel.ts";
import { foldEvents, withUnread } from "./fold.ts";
import * as pageArchive from "./page-archive.ts";

/** Milliseconds between two writings of a run that goes on. */
const KEEP_MS = 3000;

/** The runs of this tab, and what the browser keeps of all runs of the page. */
export class PageRuns {
  readonly #plans = new Map<string, unknown>();
  /** When each was written down last. */
  readonly #written = new Map<string, number>();
  /** Runs that are being written down for the last time. */
  readonly #ending = new Map<string, Promise<void>>();
  /** One after the other: what is written last is what holds. */
  readonly #writing = new Turns();

  constructor(
    private readonly archive: typeof pageArchive,
    private readonly locks: RunLocks,
  ) {}

  /**
   * Makes this tab the owner of a run.
   *
   * @throws InputError where another tab has it
   */
  async take(id: string): Promise<void> {
    await this.#ending.get(id);
    if (!(await this.locks.ownRun(id)))
      throw new InputError("another tab of this browser has this run, and it goes on there");
  }

  /** A run of this tab that begins, or goes on under its id. `plan` is what it would go on with. */
  begin(run: Pick<Run, "id" | "title" | "config">, plan: unknown): void {
    const known = getRuns().runs[run.id] ?? newRun({ ...run, where: "page" });
    putRun({ ...known, state: "starting", message: null, ended: null, stream: "live" });
    useRuns.setState({ latest: run.id });
    void this.keepPlan(run.id, plan);
  }

  /** What a run of this tab would go on with, as it is known now. */
  keepPlan(id: string, plan: unknown): Promise<void> {
    this.#plans.set(id, plan);
    return this.#write(id);
  }

  /** How a run ended; its last checkpoint stays, as its student. Other tabs may have it once that is written down. */
  end(id: string, state: "done" | "cancelled" | "failed", message: string | null): void {
    patchRun(id, { state, message, ended: new Date().toISOString(), stream: "closed" });
    const written = this.#write(id).then(() => this.locks.leaveRun(id));
    this.#ending.set(id, written);
  }

  /** Writes a run down, now and then. */
  note(id: string): void {
    if (performance.now() - (this.#written.get(id) ?? 0) > KEEP_MS) void this.#write(id);
  }

  #write(id: string): Promise<void> {
    this.#written.set(id, performance.now());
    return this.#writing.take(async () => {
      const run = getRuns().runs[id];
      if (run === undefined) return;
      const { figures: _figures, stream: _stream, ...kept } = run;
      // A browser that keeps nothing (a private window, a full disk) loses the list with the page, and nothing else.
      await this.archive.keepRun({ ...kept, plan: await this.planOf(id) }).catch(() => undefined);
    });
  }

  /** The plan that a run was started with; null where the browser did not keep it. */
  async planOf(id: string): Promise<unknown> {
    return this.#plans.get(id) ?? (await this.archive.keptRun(id).catch(() => undefined))?.plan ?? null;
  }

  /** Runs of earlier visits, and those that other tabs have. */
  async restore(): Promise<void> {
    try {
      const [runs, owned] = await Promise.all([this.archive.keptRuns(), this.locks.ownedRuns()]);
      for (const { plan, ...run } of runs) {
        const stream: Run["stream"] = owned.has(run.id) ? "other-tab" : "closed";
        // One that seems to go on, and that no tab has, may have ended since it was read.
        const read =
          ENDED.includes(run.state) || owned.has(run.id)
            ? { ...run, figures: await figuresOf(run.events), stream }
            : await this.readKept(run.id);
        if (read === null || getRuns().runs[run.id] !== undefined) continue;
        this.#plans.set(run.id, plan);
        putRun(read);
      }
    } catch {
      // Nothing is kept here: the list begins empty.
    }
    useRuns.setState({ restored: true });
    // Tabs that ended while they wrote left files behind.
    void this.archive.sweepFiles().catch(() => undefined);
  }

  /**
   * A run that no tab has any more, as it was written down: one that had not ended is lost with its page, and can go on
   * where it has a checkpoint. Null where it was not kept.
   */
  async readKept(id: string): Promise<Run | null> {
    const kept = await this.archive.keptRun(id).catch(() => undefined);
    if (kept === undefined) return null;
    const { plan: _plan, ...run } = kept;
    const figures = await figuresOf(run.events);
    const whole = { ...run, figures, stream: "closed" as const };
    if (ENDED.includes(run.state)) return whole;
    const message = (await this.archive.hasCheckpoint(id))
      ? "the page was closed; it can go on from its last checkpoint"
      : "the page was closed before its first checkpoint";
    return { ...whole, state: "lost", message };
  }

  /** Calls a run of the page something else; the name is kept with it, by the tab that has the run. */
  async rename(id: string, title: string): Promise<void> {
    patchRun(id, { title });
    if (getRuns().runs[id]?.stream !== "other-tab") await this.#write(id);
  }

  /** Takes an ended run of the page away, with its student. */
  async remove(id: string): Promise<void> {
    dropRun(id);
    this.#plans.delete(id);
    // What is being written of it now would bring it back.
    await this.#writing.take(() => this.archive.dropKept(id).catch(() => undefined));
    tellTabs({ type: "removed", id });
  }
}

export const pageRuns = new PageRuns(pageArchive, runLocks);

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
