/** Collections and evaluations in the games of the page: started, followed, ended, and kept with what was played. */
import * as Comlink from "comlink";
import { create } from "zustand";
import { InputError } from "../../core/errors.ts";
import {
  dropLiveRun,
  keepLiveRun,
  keptLiveRun,
  keptLiveRuns,
  keptOutcomes,
  keptRecord,
} from "../runs/live-archive.ts";
import type { KeptLiveRun, LiveOutcome, LiveRunPlan } from "../runs/live-run.ts";
import { leaveRun, ownedRuns, ownRun, whenFree } from "../runs/run-locks.ts";
import { newRunId } from "../runs/runs-store.ts";
import { countOf } from "../shell/plural.ts";
import { isComputing } from "../state/computing.ts";
import { getUi, type Role, setUi } from "../state/store.ts";
import type { LiveRunEvent } from "../workers/live-run.ts";
import { describeFault, isAbort, isDeviceFault } from "./faults.ts";
import { computeWithGames } from "./games.ts";
import { requireGames } from "./live-games.ts";
import { modelDigest } from "./model-digest.ts";
import { endComputeWorker, ensureModel, modelFolder } from "./models.ts";
import { stopComputing } from "./stop-computing.ts";

export interface LiveRun extends KeptLiveRun {
  /** By episode, of those that have ended; null where one gave no record. */
  outcomes: ReadonlyMap<string, LiveOutcome | null>;
  /** Episodes' worth of what those that run now have played. */
  share: number;
  /** When its model began to play (`performance.now()`), and how many episodes had ended then; null while none plays. */
  since: { at: number; ended: number } | null;
  /** False where the browser keeps nothing of it: it ends with the page. */
  kept: boolean;
  /** Whether it ended in this visit. */
  endedNow: boolean;
}

interface LiveRuns {
  runs: Readonly<Record<string, LiveRun>>;
  /** Runs of earlier visits were read. */
  restored: boolean;
}

export const useLiveRuns = create<LiveRuns>(() => ({ runs: {}, restored: false }));

const get = useLiveRuns.getState;

function put(run: LiveRun): void {
  useLiveRuns.setState(({ runs }) => ({ runs: { ...runs, [run.id]: run } }));
}

function patch(id: string, change: Partial<LiveRun>): void {
  const run = get().runs[id];
  if (run !== undefined) put({ ...run, ...change });
}

/** Records that the browser did not keep, by run and episode. */
const unkept = new Map<string, Map<string, object>>();

/** What an earlier run still says is of no interest any more. */
let turn = 0;

/** Plays a collection or an evaluation with a model that is open. A second press while one plays does nothing. */
export async function startLiveRun(plan: LiveRunPlan): Promise<void> {
  if (isComputing()) return;
  const id = newRunId(plan.kind);
  put({
    ...{ id, plan, model: { name: "", digest: "" }, ids: [], state: "running", message: null },
    ...{ created: new Date().toISOString(), outcomes: new Map(), share: 0, since: null, kept: true },
    endedNow: false,
  });
  await play(id);
}

/** Plays what an interrupted run has not played yet. */
export async function goOnWith(id: string): Promise<void> {
  if (isComputing() || get().runs[id] === undefined) return;
  await play(id);
}

async function play(id: string): Promise<void> {
  turn += 1;
  const mine = turn;
  setUi({ liveRun: id });
  patch(id, { state: "running", message: null, share: 0, since: null });
  try {
    if (!(await ownRun(id))) {
      setUi({ liveRun: null });
      return followElsewhere(id);
    }
    const { plan, model: before, kept, outcomes: known } = get().runs[id]!;
    // Another tab may have played on since this one read it.
    const outcomes = kept ? await keptOutcomes(id).catch(() => known) : known;
    requireGames(plan.environment, plan.tasks);
    const { api } = await ensureModel(plan.role);
    await computeWithGames();
    const model = await openModelOf(plan.role);
    if (before.digest !== "" && before.digest !== model.digest)
      throw new InputError(
        `its episodes so far were played by another model, ${before.name}: open that one as the ${plan.role}, then go on`,
      );
    if (mine !== turn) return;
    patch(id, { model, outcomes, since: { at: performance.now(), ended: outcomes.size } });
    await keep(id);
    await api.playLive(
      { id, plan, model, ended: [...outcomes.keys()] },
      Comlink.proxy((event: LiveRunEvent) => {
        if (mine === turn) follow(id, event);
      }),
    );
    if (mine === turn) end(id, "done", null);
  } catch (error) {
    if (mine !== turn) return;
    if (isDeviceFault(error)) endComputeWorker();
    if (isAbort(error)) end(id, "cancelled", null);
    else end(id, "failed", describeFault(error));
  }
}

/** What records call the open model of a role, and what tells it from others. */
async function openModelOf(role: Role): Promise<KeptLiveRun["model"]> {
  const opened = getUi().models[role];
  if (opened === null) throw new Error(`no ${role} is open`);
  const { info, origin, steps } = opened;
  return {
    name: origin === "updated" ? `${info.model} after ${countOf(steps, "step")}` : info.model,
    digest: await modelDigest(await modelFolder(role)),
  };
}

function follow(id: string, event: LiveRunEvent): void {
  const run = get().runs[id];
  if (run === undefined) return;
  const outcomes = new Map(run.outcomes);
  switch (event.type) {
    case "planned":
      patch(id, { ids: event.ids });
      void keep(id);
      break;
    case "begun":
      if (outcomes.delete(event.episode)) patch(id, { outcomes });
      break;
    case "ended":
      if (event.unkept !== null) {
        const records = unkept.get(id) ?? new Map<string, object>();
        unkept.set(id, records.set(event.episode, event.unkept));
      }
      patch(id, {
        outcomes: outcomes.set(event.episode, event.outcome),
        ...(event.unkept === null ? {} : { kept: false }),
      });
      break;
    case "played":
      patch(id, { share: event.share });
  }
}

function end(id: string, state: "done" | "cancelled" | "failed", message: string | null): void {
  patch(id, { state, message, share: 0, since: null, endedNow: true });
  setUi({ liveRun: null });
  void keep(id).then(() => leaveRun(id));
}

/** One after the other: what is written last is what holds. */
let writing: Promise<void> = Promise.resolve();

/** Writes a run down. A browser that keeps nothing loses it with the page, and the run says so. */
function keep(id: string): Promise<void> {
  writing = writing.then(async () => {
    const run = get().runs[id];
    if (run === undefined) return;
    const { plan, model, ids, state, message, created } = run;
    await keepLiveRun({ id, plan, model, ids, state, message, created }).catch(() =>
      patch(id, { kept: false }),
    );
  });
  return writing;
}

/** Ends the present run: at once where the model lets itself be asked, else with its worker. */
export async function cancelLiveRun(): Promise<void> {
  const id = getUi().liveRun;
  if (id === null || get().runs[id]?.state !== "running") return;
  const mine = turn;
  patch(id, { state: "cancelling" });
  if (!(await stopComputing(() => mine === turn && getUi().liveRun === id))) return;
  turn += 1;
  end(id, "cancelled", null);
}

/** Reads the runs of earlier visits, once. One that seems to go on, and that no tab has, was lost with its page. */
export async function restoreLiveRuns(): Promise<void> {
  if (get().restored) return;
  useLiveRuns.setState({ restored: true });
  try {
    // In this order a run that ends meanwhile is read as ended, or is followed until it is read again.
    const owned = await ownedRuns();
    for (const run of await keptLiveRuns()) {
      if (get().runs[run.id] !== undefined) continue;
      await putKept(run);
      if (owned.has(run.id)) void followElsewhere(run.id);
    }
  } catch {
    // Nothing is kept here: the list begins empty.
  }
}

/** Lists a run that no tab plays as it was written down. */
async function putKept(run: KeptLiveRun): Promise<void> {
  const outcomes = await keptOutcomes(run.id);
  const goesOn = run.state === "running" || run.state === "cancelling";
  put({
    ...{ ...run, outcomes, share: 0, since: null, kept: true, endedNow: false },
    ...(goesOn ? { state: "lost", message: "the page was closed while it played" } : {}),
  });
}

/** Shows that another tab plays the run; once that tab has ended it, or is gone, this one has what was written down. */
async function followElsewhere(id: string): Promise<void> {
  patch(id, { state: "running", message: "it goes on in another tab", share: 0, since: null });
  await whenFree(id);
  if (getUi().liveRun === id || get().runs[id] === undefined) return;
  const run = await keptLiveRun(id).catch(() => undefined);
  if (run !== undefined) await putKept(run);
  else useLiveRuns.setState(({ runs: { [id]: _, ...runs } }) => ({ runs }));
}

/**
 * Takes a run away with all that was played.
 *
 * @throws InputError where another tab plays it
 */
export async function removeLiveRun(id: string): Promise<void> {
  if (!(await ownRun(id))) {
    void followElsewhere(id);
    throw new InputError("another tab of this browser plays this run: end it there, then remove it");
  }
  useLiveRuns.setState(({ runs: { [id]: _, ...runs } }) => ({ runs }));
  unkept.delete(id);
  await dropLiveRun(id).catch(() => undefined);
  leaveRun(id);
}

/**
 * The records of a run's episodes that have ended, in their order, as JSON Lines.
 *
 * @throws InputError where the browser has lost one
 */
export async function recordLines({ id, ids, outcomes }: LiveRun): Promise<Blob> {
  const lines: Blob[] = [];
  for (const episode of ids) {
    const outcome = outcomes.get(episode);
    if (outcome === undefined || outcome === null) continue;
    const record = unkept.get(id)?.get(episode) ?? (await keptRecord(id, episode).catch(() => undefined));
    if (record === undefined || record === null)
      throw new InputError(`this browser has lost the record of ${episode}`);
    lines.push(new Blob([`${JSON.stringify(record)}\n`]));
  }
  return new Blob(lines);
}
