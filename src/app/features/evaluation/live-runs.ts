/** Collections and evaluations in the games of the page: started, followed, ended, and kept with what was played. */

import * as Comlink from "comlink";
import { InputError } from "../../../core/errors.ts";
import { countOf } from "../../../core/plural.ts";
import { describeFault, isAbort, isDeviceFault } from "../../base/faults.ts";
import { Latest } from "../../base/latest.ts";
import { Turns } from "../../base/turns.ts";
import { isModelAtWork } from "../../compute/computing.ts";
import { computeWithGames } from "../../compute/games/games.ts";
import { checkGames, ensureGames } from "../../compute/games/live-games.ts";
import { modelDigest } from "../../compute/models/model-digest.ts";
import { models } from "../../compute/models/models.ts";
import * as liveArchive from "../../compute/runs/live-archive.ts";
import type { KeptLiveRun, LiveRunEvent, LiveRunPlan } from "../../compute/runs/live-run.ts";
import { runLocks } from "../../compute/runs/run-locks.ts";
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
import { tabLiveRuns } from "./tab-live-runs.ts";

const page = {
  ...{ models, archive: liveArchive, locks: runLocks, tabs: tabLiveRuns },
  ...{ ensureGames, checkGames, computeWithGames },
};

export class LiveRuns {
  /** Records that the browser did not keep, by run and episode. */
  readonly #unkept = new Map<string, Map<string, object>>();
  /** What an earlier run still says is of no interest any more. */
  readonly #turns = new Latest();
  /** One after the other: what is written last is what holds. */
  readonly #writing = new Turns();

  constructor(private readonly clients: typeof page) {}

  /** Plays a collection or an evaluation with a model that is open. A second press while one plays does nothing. */
  async start(plan: LiveRunPlan): Promise<void> {
    if (isModelAtWork()) return;
    const id = newRunId(plan.kind);
    putLiveRun({
      ...{ id, plan, model: { name: "", digest: "" }, ids: [], state: "running", message: null },
      ...{ created: new Date().toISOString(), outcomes: new Map(), share: 0, since: null, kept: true },
      ...{ endedNow: false, elsewhere: false },
    });
    await this.#play(id);
  }

  /** Plays what an interrupted run has not played yet. */
  async goOn(id: string): Promise<void> {
    if (isModelAtWork() || liveRunOf(id) === undefined) return;
    patchLiveRun(id, { state: "running" });
    await this.#play(id);
  }

  async #play(id: string): Promise<void> {
    const { models, archive, locks, tabs } = this.clients;
    const isLatest = this.#turns.begin();
    setUi({ liveRun: id });
    try {
      if (!(await locks.ownRun(id))) {
        setUi({ liveRun: null });
        void tabs.followElsewhere(id);
        return;
      }
      patchLiveRun(id, { message: null, share: 0, since: null, elsewhere: false });
      tabs.tell(id);
      const { plan, model: before, games: begun, kept, outcomes: known } = liveRunOf(id)!;
      // Another tab may have played on since this one read it.
      const outcomes = kept ? await archive.keptOutcomes(id).catch(() => known) : known;
      await this.clients.ensureGames({ environment: { name: plan.environment }, tasks: plan.tasks });
      const games = await this.clients.checkGames(plan.environment, plan.tasks, begun);
      const { api } = await models.ensure(plan.role);
      await this.clients.computeWithGames();
      const model = await this.#openModelOf(plan.role);
      if (before.digest !== "" && before.digest !== model.digest)
        throw new InputError(
          `its episodes so far were played by another model, ${before.name}: open that one as the ${plan.role}, then go on`,
        );
      if (!isLatest()) return;
      patchLiveRun(id, { model, games, outcomes, since: { at: pageTime(), ended: outcomes.size } });
      tabs.tell(id);
      await this.#keep(id);
      // A worker that has nothing to do hears no cancel.
      if (liveRunOf(id)?.state !== "running") throw new DOMException("cancelled", "AbortError");
      await api.playLive(
        { id, plan, model, ended: [...outcomes.keys()] },
        Comlink.proxy((event: LiveRunEvent) => {
          if (isLatest()) this.#follow(id, event);
        }),
      );
      if (isLatest()) this.#end(id, "done", null);
    } catch (error) {
      if (!isLatest()) return;
      if (isDeviceFault(error)) models.endWorker();
      if (isAbort(error)) this.#end(id, "cancelled", null);
      else this.#end(id, "failed", describeFault(error));
    }
  }

  /** What records call the open model of a role, and what distinguishes it from others. */
  async #openModelOf(role: Role): Promise<KeptLiveRun["model"]> {
    const opened = getUi().models[role];
    if (opened === null) throw new Error(`no ${role} is open`);
    const { info, origin, steps } = opened;
    return {
      name: origin === "updated" ? `${info.model} after ${countOf(steps, "step")}` : info.model,
      digest: await modelDigest(await this.clients.models.folder(role)),
    };
  }

  #follow(id: string, event: LiveRunEvent): void {
    if (event.type === "ended" && event.unkept !== null) {
      const records = this.#unkept.get(id) ?? new Map<string, object>();
      this.#unkept.set(id, records.set(event.episode, event.unkept));
    }
    takeLiveRunEvent(id, event);
    if (event.type === "planned") void this.#keep(id);
    this.clients.tabs.tellEvent(id, event);
  }

  #end(id: string, state: "done" | "cancelled" | "failed", message: string | null): void {
    patchLiveRun(id, { state, message, share: 0, since: null, endedNow: true });
    setUi({ liveRun: null });
    void this.#keep(id).then(() => this.clients.locks.leaveRun(id));
  }

  /** Writes a run down. A browser that keeps nothing loses it with the page, and the run says so. */
  #keep(id: string): Promise<void> {
    return this.#writing.take(async () => {
      const run = liveRunOf(id);
      if (run === undefined) return;
      const { plan, model, games, ids, state, message, created } = run;
      await this.clients.archive
        .keepLiveRun({ id, plan, model, games, ids, state, message, created })
        .catch(() => patchLiveRun(id, { kept: false }));
    });
  }

  /** Ends the present run: at once where the model can be asked to stop, otherwise by ending its worker. */
  async cancel(): Promise<void> {
    const id = getUi().liveRun;
    if (id === null || liveRunOf(id)?.state !== "running") return;
    const isLatest = this.#turns.present();
    patchLiveRun(id, { state: "cancelling" });
    this.clients.tabs.tell(id);
    if (!(await this.clients.models.stopWork(() => isLatest() && getUi().liveRun === id))) return;
    this.#turns.end();
    this.#end(id, "cancelled", null);
  }

  /**
   * Takes a run away with all that was played.
   *
   * @throws InputError where another tab plays it
   */
  async remove(id: string): Promise<void> {
    const { archive, locks, tabs } = this.clients;
    if (!(await locks.ownRun(id))) {
      void tabs.followElsewhere(id);
      throw new InputError("another tab of this browser plays this run: end it there, then remove it");
    }
    unlistLiveRun(id);
    this.#unkept.delete(id);
    await archive.dropLiveRun(id).catch(() => undefined);
    tabs.tellRemoved(id);
    locks.leaveRun(id);
  }

  /**
   * The records of a run's episodes that have ended, in their order, as JSON Lines.
   *
   * @throws InputError where the browser has lost one
   */
  async recordLines({ id, ids, outcomes }: LiveRun): Promise<Blob> {
    const { archive } = this.clients;
    const lines: Blob[] = [];
    for (const episode of ids) {
      const outcome = outcomes.get(episode);
      if (outcome === undefined || outcome === null) continue;
      const record =
        this.#unkept.get(id)?.get(episode) ?? (await archive.keptRecord(id, episode).catch(() => undefined));
      if (record === undefined || record === null)
        throw new InputError(`this browser has lost the record of ${episode}`);
      lines.push(new Blob([`${JSON.stringify(record)}\n`]));
    }
    return new Blob(lines);
  }
}

export const liveRuns = new LiveRuns(page);
