/** One run of scoring at a time: passes of the models, with progress, an ETA as a range, a cancel and one fault line. */

import * as Comlink from "comlink";
import type { EngineInfo } from "../../../core/ports.ts";
import { type Range, remaining } from "../../base/eta.ts";
import { describeFault, isAbort, isDeviceFault } from "../../base/faults.ts";
import { hint } from "../../base/hint.ts";
import { Latest } from "../../base/latest.ts";
import type { FolderFiles } from "../../data/files/blob-folder.ts";
import { scoredName } from "../../data/score-key.ts";
import type { ComputeClient } from "../clients.ts";
import { isDeviceBusy } from "../computing.ts";
import { memory } from "../models/memory.ts";
import { models } from "../models/models.ts";
import type { SideModel } from "../side.ts";
import { getUi, type Role, type ScoringJob, setUi } from "../store.ts";
import type { Scored, Wanted } from "../worker/compute-service.ts";

export { scoreKey } from "../../data/score-key.ts";

/** A response under one context. */
export interface Pass {
  model: SideModel;
  label: string;
  promptIds: readonly number[];
  responseIds: readonly number[];
  /** What to return beside the log-probabilities; nothing when absent. */
  wanted?: Wanted;
}

/** What a pass gave. */
export type PassResult = Omit<Scored, "id">;

/** What a run does, one after the other. Each throws once the run is over or another one took its place. */
export interface ScoringRun {
  /** The decision's key: see `scoreKey`. */
  key: string;
  /** Opens the model of a role. */
  open(role: Role): Promise<void>;
  /** Opens a further model, in the place of the one before, if it is not that; it is closed with the run. */
  openOther(folder: FolderFiles): Promise<EngineInfo>;
  /** Whether that further model is open now. */
  hasOther(folder: FolderFiles | undefined): boolean;
  /** Waits for something else than the device. */
  wait<T>(work: Promise<T>): Promise<T>;
  /**
   * Throws once the run was asked to stop. That reaches what the device is at, and nothing that it is asked later: it
   * stands before whatever is asked of the device without `open`, `score` and the like, which have it themselves.
   */
  checkStop(): void;
  /** Scores in order, with progress and the time that is left; `onResult` is called with each pass as it ends, and awaited. */
  score(
    passes: readonly Pass[],
    onResult: (index: number, result: PassResult, seconds: number) => void | Promise<void>,
  ): Promise<void>;
  /** Says what is being done where it is none of the above. */
  show(label: string, done: number, total: number, eta: Range | null, unit?: string): void;
  /** One call of a model that is open, without progress of its own. */
  together: CallTogether;
  /** Works through jobs of several sequences each, with progress over the tokens of all. */
  runJobs(
    jobs: readonly { label: string; tokens: number }[],
    work: (index: number, call: CallTogether) => Promise<void>,
  ): Promise<void>;
}

/** Scores sequences in one call of a model: what they have in common is computed once. */
export type CallTogether = (
  model: SideModel,
  sequences: readonly Pick<Pass, "promptIds" | "responseIds">[],
  wanted: Wanted,
) => Promise<PassResult[]>;

const page = { models };

/** One run of scoring at a time. */
export class ScoringRuns {
  /** Cancelled runs end their worker, and what it was asked for never answers: each run knows if it is still the one. */
  readonly #turns = new Latest();

  constructor(private readonly clients: typeof page) {}

  /**
   * Does some work with the models; its progress, its fault and its end are in the store. While a model is at work,
   * another call does nothing.
   */
  async run(job: ScoringJob, key: string, work: (run: ScoringRun) => Promise<void>): Promise<void> {
    if (isDeviceBusy()) return;
    const { models } = this.clients;
    const isLatest = this.#turns.begin();
    const wait = async <T>(waited: Promise<T>): Promise<T> => {
      const result = await waited;
      if (!isLatest()) throw new DOMException("another run took its place", "AbortError");
      return result;
    };
    const checkStop = (): void => {
      if (isLatest() && getUi().scoring.status === "cancelling")
        throw new DOMException("stopped", "AbortError");
    };
    /** Asks the device. */
    const ask = <T>(work: () => Promise<T>): Promise<T> => {
      checkStop();
      return wait(work());
    };
    const show: ScoringRun["show"] = (label, done, total, eta, unit = "tokens") => {
      if (!isLatest() || getUi().scoring.status === "cancelling") return;
      setUi({ scoring: { status: "running", job, key, label, done, total, unit, eta } });
    };
    let api: ComputeClient["api"] | null = null;
    const open = async (role: Role): Promise<void> => {
      show(`Opening the ${role}`, 0, 0, null);
      ({ api } = await ask(() => models.ensure(role)));
    };
    let other: { folder: FolderFiles; engine: EngineInfo } | null = null;
    const openOther: ScoringRun["openOther"] = async (folder) => {
      if (other?.folder === folder) return other.engine;
      show(`Opening ${folder.name}`, 0, 0, null);
      await wait(models.ensureTokenizers());
      ({ api } = await wait(models.worker()));
      const client = api;
      const engine = await ask(() =>
        client.loadOther(
          folder,
          memory().weights,
          Comlink.proxy(({ done, total }) => show(`Opening ${folder.name}`, done, total, null)),
        ),
      );
      other = { folder, engine };
      return engine;
    };
    const score: ScoringRun["score"] = async (passes, onResult) => {
      const client = api;
      if (client === null) throw new Error("no model was opened");
      const lengths = passes.map(({ promptIds, responseIds }) => promptIds.length + responseIds.length);
      const total = lengths.reduce((sum, n) => sum + n, 0);
      const began = performance.now();
      let before = 0;
      for (const [i, { model, label, promptIds, responseIds, wanted = {} }] of passes.entries()) {
        const passBegan = performance.now();
        const tell = (done: number): void =>
          show(label, before + done, total, remaining(lengths, i, (performance.now() - began) / 1000));
        tell(0);
        const [result] = await ask(() =>
          client.score(
            model,
            [{ id: key, promptIds, responseIds }],
            wanted,
            Comlink.proxy((progress) => tell(progress.done)),
          ),
        );
        await onResult(i, result!, (performance.now() - passBegan) / 1000);
        before += lengths[i]!;
      }
    };
    const callWith =
      (tell: (done: number) => void): CallTogether =>
      async (model, sequences, wanted) => {
        const client = api;
        if (client === null) throw new Error("no model was opened");
        return ask(() =>
          client.score(
            model,
            sequences.map(({ promptIds, responseIds }, n) => ({ id: `${key} ${n}`, promptIds, responseIds })),
            wanted,
            Comlink.proxy((progress) => tell(progress.done)),
          ),
        );
      };
    const runJobs: ScoringRun["runJobs"] = async (jobs, work) => {
      const lengths = jobs.map(({ tokens }) => tokens);
      const total = lengths.reduce((sum, n) => sum + n, 0);
      const began = performance.now();
      let before = 0;
      for (const [i, { label, tokens }] of jobs.entries()) {
        const tell = (done: number): void =>
          show(label, before + done, total, remaining(lengths, i, (performance.now() - began) / 1000));
        tell(0);
        await work(i, callWith(tell));
        before += tokens;
      }
    };
    try {
      show("Getting ready", 0, 0, null);
      const hasOther: ScoringRun["hasOther"] = (folder) => other !== null && other.folder === folder;
      await work({
        ...{ key, open, openOther, hasOther, wait, checkStop, score, show },
        ...{ together: callWith(() => {}), runJobs },
      });
      if (isLatest()) setUi({ scoring: { status: "idle" } });
    } catch (error) {
      if (!isLatest()) return;
      if (isDeviceFault(error)) models.endFailed();
      if (isAbort(error)) endCancelled(key);
      else setUi({ scoring: { status: "failed", job, key, message: describeFault(error) } });
    } finally {
      if (other !== null && isLatest())
        models
          .worker()
          .then((client) => client.api.closeOther())
          .catch(() => undefined);
    }
  }

  /** Asks the scoring to stop; a pass that does not hear is ended with its worker. */
  async cancel(): Promise<void> {
    const { scoring } = getUi();
    if (scoring.status !== "running") return;
    const isLatest = this.#turns.present();
    setUi({ scoring: { status: "cancelling", job: scoring.job, key: scoring.key } });
    if (!(await this.clients.models.stopWork(() => isLatest() && getUi().scoring.status === "cancelling")))
      return;
    this.#turns.end();
    endCancelled(scoring.key);
  }
}

function endCancelled(key: string): void {
  setUi({ scoring: { status: "idle" } });
  const name = scoredName(key);
  hint(name === null ? "Scoring was cancelled." : `Scoring of ${name} was cancelled.`);
}

export const scoringRuns = new ScoringRuns(page);
