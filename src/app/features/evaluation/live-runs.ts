/** Collections and evaluations in the games of the page: started, followed, ended, and kept with what was played. */

import * as Comlink from "comlink";
import { InputError } from "../../../core/errors.ts";
import { describeFault, isAbort, isDeviceFault } from "../../base/faults.ts";
import { Latest } from "../../base/latest.ts";
import { countOf } from "../../base/plural.ts";
import { isComputing } from "../../compute/computing.ts";
import { computeWithGames } from "../../compute/games/games.ts";
import { checkGames, ensureGames } from "../../compute/games/live-games.ts";
import { modelDigest } from "../../compute/models/model-digest.ts";
import { models } from "../../compute/models/models.ts";
import { dropLiveRun, keepLiveRun, keptOutcomes, keptRecord } from "../../compute/runs/live-archive.ts";
import type { KeptLiveRun, LiveRunEvent, LiveRunPlan } from "../../compute/runs/live-run.ts";
import { leaveRun, ownRun } from "../../compute/runs/run-locks.ts";
import { newRunId } from "../../compute/runs/runs-store.ts";
import { getUi, type Role, setUi } from "../../compute/store.ts";
import {
  type LiveRun,
  liveRunOf,
  pageTime,
  patchLiveRun,
  putLiveRun,
  takeLiveRunEvent,
  unlistLiveRun,
} from "./live-runs-store.ts";
import { followElsewhere, tellLiveRun, tellLiveRunEvent, tellLiveRunRemoved } from "./tab-live-runs.ts";

/** Records that the browser did not keep, by run and episode. */
const unkept = new Map<string, Map<string, object>>();

/** What an earlier run still says is of no interest any more. */
const turns = new Latest();

/** Plays a collection or an evaluation with a model that is open. A second press while one plays does nothing. */
export async function startLiveRun(plan: LiveRunPlan): Promise<void> {
  if (isComputing()) return;
  const id = newRunId(plan.kind);
  putLiveRun({
    ...{ id, plan, model: { name: "", digest: "" }, ids: [], state: "running", message: null },
    ...{ created: new Date().toISOString(), outcomes: new Map(), share: 0, since: null, kept: true },
    ...{ endedNow: false, elsewhere: false },
  });
  await play(id);
}

/** Plays what an interrupted run has not played yet. */
export async function goOnWith(id: string): Promise<void> {
  if (isComputing() || liveRunOf(id) === undefined) return;
  await play(id);
}

async function play(id: string): Promise<void> {
  const isLatest = turns.begin();
  setUi({ liveRun: id });
  try {
    if (!(await ownRun(id))) {
      setUi({ liveRun: null });
      void followElsewhere(id);
      return;
    }
    patchLiveRun(id, { state: "running", message: null, share: 0, since: null, elsewhere: false });
    tellLiveRun(id);
    const { plan, model: before, games: begun, kept, outcomes: known } = liveRunOf(id)!;
    // Another tab may have played on since this one read it.
    const outcomes = kept ? await keptOutcomes(id).catch(() => known) : known;
    await ensureGames({ environment: { name: plan.environment }, tasks: plan.tasks });
    const games = await checkGames(plan.environment, plan.tasks, begun);
    const { api } = await models.ensure(plan.role);
    await computeWithGames();
    const model = await openModelOf(plan.role);
    if (before.digest !== "" && before.digest !== model.digest)
      throw new InputError(
        `its episodes so far were played by another model, ${before.name}: open that one as the ${plan.role}, then go on`,
      );
    if (!isLatest()) return;
    patchLiveRun(id, { model, games, outcomes, since: { at: pageTime(), ended: outcomes.size } });
    tellLiveRun(id);
    await keep(id);
    await api.playLive(
      { id, plan, model, ended: [...outcomes.keys()] },
      Comlink.proxy((event: LiveRunEvent) => {
        if (isLatest()) follow(id, event);
      }),
    );
    if (isLatest()) end(id, "done", null);
  } catch (error) {
    if (!isLatest()) return;
    if (isDeviceFault(error)) models.endWorker();
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
    digest: await modelDigest(await models.folder(role)),
  };
}

function follow(id: string, event: LiveRunEvent): void {
  if (event.type === "ended" && event.unkept !== null) {
    const records = unkept.get(id) ?? new Map<string, object>();
    unkept.set(id, records.set(event.episode, event.unkept));
  }
  takeLiveRunEvent(id, event);
  if (event.type === "planned") void keep(id);
  tellLiveRunEvent(id, event);
}

function end(id: string, state: "done" | "cancelled" | "failed", message: string | null): void {
  patchLiveRun(id, { state, message, share: 0, since: null, endedNow: true });
  setUi({ liveRun: null });
  void keep(id).then(() => leaveRun(id));
}

/** One after the other: what is written last is what holds. */
let writing: Promise<void> = Promise.resolve();

/** Writes a run down. A browser that keeps nothing loses it with the page, and the run says so. */
function keep(id: string): Promise<void> {
  writing = writing.then(async () => {
    const run = liveRunOf(id);
    if (run === undefined) return;
    const { plan, model, games, ids, state, message, created } = run;
    await keepLiveRun({ id, plan, model, games, ids, state, message, created }).catch(() =>
      patchLiveRun(id, { kept: false }),
    );
  });
  return writing;
}

/** Ends the present run: at once where the model lets itself be asked, else with its worker. */
export async function cancelLiveRun(): Promise<void> {
  const id = getUi().liveRun;
  if (id === null || liveRunOf(id)?.state !== "running") return;
  const isLatest = turns.present();
  patchLiveRun(id, { state: "cancelling" });
  tellLiveRun(id);
  if (!(await models.stopWork(() => isLatest() && getUi().liveRun === id))) return;
  turns.end();
  end(id, "cancelled", null);
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
  unlistLiveRun(id);
  unkept.delete(id);
  await dropLiveRun(id).catch(() => undefined);
  tellLiveRunRemoved(id);
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
