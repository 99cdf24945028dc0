/** Training on the worker: what it reads is sent, what it costs is measured, and the job is submitted. */
import { create } from "zustand";
import { InputError } from "../../../core/errors.ts";
import type { RunWork } from "../../../core/loop/index.ts";
import { untilAborted } from "../../../core/until-aborted.ts";
import { Turns } from "../../base/turns.ts";
import { wholeFile } from "../../data/files/blob-folder.ts";
import { withTokenizer } from "../../data/files/model-folder.ts";
import { isRefusal, WorkerAway } from "../../data/files/read-answer.ts";
import { libraryWorker } from "../../data/library-client.ts";
import { gigabytes } from "../hub/hub.ts";
import { modelDigest } from "../models/model-digest.ts";
import { models } from "../models/models.ts";
import { workerFollower } from "../runs/follow-worker.ts";
import { namesHubModel } from "../runs/hub-models.ts";
import { launches, takeLaunched, useTargets } from "../runs/launches.ts";
import type { Run } from "../runs/run.ts";
import { getRuns, newRunId, useRuns } from "../runs/runs-store.ts";
import type { PlannedThere, WorkerPlan } from "../runs/worker-answers.ts";
import { worker } from "../runs/worker-client.ts";
import { firstProblem } from "./form-problems.ts";
import { recordsToSend, runTitle } from "./internal/training-data.ts";
import { type ComposedConfig, composeConfig } from "./training-config.ts";
import { setTrainingForm, type TrainingForm, trainingForm } from "./training-form.ts";

/** What the start of a run is at, in words, how to end it, and what the last measured run will read. */
export const useSending = create<{
  label: string | null;
  cancel: (() => void) | null;
  work: RunWork | null;
}>(() => ({ label: null, cancel: null, work: null }));

/** @throws InputError for a config that is not valid, with its first problem */
function valid(composed: ComposedConfig): ComposedConfig {
  const problem = firstProblem(composed.problems);
  if (problem !== undefined) throw new InputError(problem);
  return composed;
}

/** What a run may read that the page sends. */
const INPUTS = ["records", "teacher", "student"] as const;

type Tell = (what: string) => void;

const page = { worker, models, library: libraryWorker, compose: composeConfig };

export class WorkerTraining {
  /** What was sent under an id already: the choice that it was made from. */
  readonly #sent = new Map<string, string>();
  /** Measuring and starting may want the same files: the second waits and then finds them already sent. */
  readonly #sending = new Turns();

  constructor(private readonly clients: typeof page) {
    useRuns.subscribe(({ runs, worker: { status } }, { worker: before }) => {
      const { nextId } = trainingForm();
      // A worker that is there again may have removed what was sent, or have another data folder.
      if (before.status === "lost" && status === "there") this.#forgetSent(nextId);
      // A submit whose answer was lost may have begun the run.
      if (runs[nextId] !== undefined) setTrainingForm({ nextId: newRunId("train") });
    });
  }

  #forgetSent(id: string): void {
    for (const what of INPUTS) this.#sent.delete(`${id} ${what}`);
  }

  /** An answer about the run of an id. A refusal that names it may be for files that were removed: the next try sends them. */
  async #answered<T>(id: string, asked: Promise<T>): Promise<T> {
    try {
      return await asked;
    } catch (error) {
      if (isRefusal(error) && error.message.includes(id)) this.#forgetSent(id);
      throw error;
    }
  }

  /** The same for what begins a run. `refresh` lists it where it began though the answer was lost. */
  async #begun<T>(id: string, asked: Promise<T>, refresh: () => Promise<void>): Promise<T> {
    try {
      return await this.#answered(id, asked);
    } catch (error) {
      if (!(error instanceof WorkerAway)) throw error;
      void refresh();
      // A launch may still read what was sent for it, and its run has an id of its own.
      if (trainingForm().where === "target") setTrainingForm({ nextId: newRunId("train") });
      throw new InputError(
        "the worker did not answer, and the run may have begun: look at Runs before you start it again",
      );
    }
  }

  /** Sends what the form's run reads and the worker does not have. @throws InputError, as `valid` */
  async #sendInputs(tell: Tell, signal: AbortSignal): Promise<ComposedConfig & { id: string }> {
    const [composed, form] = [valid(this.clients.compose()), trainingForm()];
    // Reading a library or a model cannot be interrupted.
    await untilAborted(
      signal,
      this.#sending.take(() => this.#sendMissing(composed, form, tell, signal)),
    );
    return { ...composed, id: form.nextId };
  }

  async #sendMissing({ send }: ComposedConfig, form: TrainingForm, tell: Tell, signal: AbortSignal) {
    signal.throwIfAborted();
    const { nextId: id } = form;
    const { worker, models, library: records } = this.clients;
    const once = async (what: string, of: string, files: () => Promise<[path: string, Blob][]>) => {
      signal.throwIfAborted();
      if (this.#sent.get(`${id} ${what}`) === of) return;
      tell(`Reading the ${what}`);
      const all = await files();
      for (const [n, [path, blob]] of all.entries()) {
        signal.throwIfAborted();
        tell(`Sending the ${what} to the worker: file ${n + 1} of ${all.length}, ${gigabytes(blob.size)}`);
        await worker.input(id, path, blob, signal);
      }
      this.#sent.set(`${id} ${what}`, of);
    };
    if (send.records) {
      const { library, names } = await recordsToSend(form);
      await once("records", JSON.stringify([library.id, names]), async () => {
        const { episodes, sources } = await records().tasks.recordLines(library.id, names);
        const own: [string, Blob][] = episodes.size === 0 ? [] : [["episodes.jsonl", episodes]];
        return [...own, ["sources.jsonl", sources]];
      });
    }
    for (const role of ["teacher", "student"] as const) {
      if (!send[role]) continue;
      // Shipped models, and those whose tokenizer the user named, have none in their folder.
      const folder = withTokenizer(await models.folder(role), await models.tokenizer(role));
      // Students of one model have files of the same names and sizes.
      const sizes = [...folder.files].map(([name, { size }]) => [name, size]);
      const of = JSON.stringify([folder.name, sizes, await modelDigest(folder)]);
      await once(role, of, () =>
        Promise.all(
          [...folder.files]
            .filter(([name]) => /^[A-Za-z0-9][\w.-]*$/.test(name))
            .map(async ([name, file]): Promise<[string, Blob]> => [`${role}/${name}`, await wholeFile(file)]),
        ),
      );
    }
  }

  /** Measures on the worker what the form's run will cost; with `probe` its time, too. */
  async planOnWorker(tell: Tell, probe: boolean, signal: AbortSignal): Promise<WorkerPlan> {
    const composed = await this.#sendInputs(tell, signal);
    signal.throwIfAborted();
    const what = probe ? "Measuring, with a probe" : "Measuring";
    tell(
      namesHubModel(composed.written)
        ? `${what}; models of the hub that the worker does not have yet are downloaded first`
        : what,
    );
    // What is asked of the target's device is not asked of the worker's.
    const { cards: _cards, device: _device, ...anywhere } = composed.written;
    const written = trainingForm().where === "target" ? anywhere : composed.written;
    return this.#answered(composed.id, this.clients.worker.plan(written, probe, signal));
  }

  /** What the form's run will cost as its target measures it, or did before with `kept`. */
  async planOnTarget(tell: Tell, how: { kept: boolean }, signal: AbortSignal): Promise<PlannedThere> {
    const { id, written } = await this.#sendInputs(tell, signal);
    signal.throwIfAborted();
    const { target } = trainingForm();
    // A probe is waited for by sbatch.
    const { slurmrestd, scheduler } = useTargets.getState().targets[target] ?? {};
    const probe = slurmrestd === undefined && scheduler !== "kubernetes";
    if (!how.kept) tell(`Measuring on the target${probe ? ", with a probe" : ""}; it may wait in a queue`);
    return this.#answered(id, this.clients.worker.planThere(target, written, { ...how, probe }, signal));
  }

  /**
   * A run of the worker that has this config already, whatever became of it; what is sent into the folder of a run is the
   * same under its id.
   */
  runWithSameConfig(
    written: Record<string, unknown>,
    id: string,
    runs: Readonly<Record<string, Run>>,
  ): Run | null {
    const text = (config: Record<string, unknown>, own: string): string =>
      JSON.stringify(Object.entries(config).sort(([a], [b]) => (a < b ? -1 : 1))).replaceAll(own, "ID");
    // What was sent before this visit is not known: such a run is asked about.
    const sentOther = (other: string): boolean =>
      INPUTS.some((what) => {
        const [mine, theirs] = [id, other].map((each) => this.#sent.get(`${each} ${what}`));
        return mine !== undefined && theirs !== undefined && mine !== theirs;
      });
    const wanted = text(written, id);
    return (
      Object.values(runs).find(
        (run) => run.where === "worker" && text(run.config, run.id) === wanted && !sentOther(run.id),
      ) ?? null
    );
  }

  /**
   * Submits the form's run; its folder is the one that the form showed. One that has the config of an earlier run is
   * submitted only where `again` says so.
   *
   * @returns its id; null where it was not wanted again
   */
  async start(tell: Tell, again: (run: Run) => boolean, signal: AbortSignal): Promise<string | null> {
    const { where, target, name } = trainingForm();
    const { id, written, config } = await this.#sendInputs(tell, signal);
    const before = this.runWithSameConfig(written, id, getRuns().runs);
    if (where === "worker" && before !== null && !again(before)) return null;
    signal.throwIfAborted();
    tell("Submitting: the worker checks the config");
    const { worker } = this.clients;
    let started = id;
    if (where === "target") {
      const asked = worker.launch(target, written, name.trim() || undefined);
      const launched = await this.#begun(id, asked, () => launches.refresh());
      takeLaunched(launched);
      started = launched.id;
    } else {
      const asked = worker.submit({ kind: "train", id, title: runTitle(config!), config: written });
      workerFollower.takeJob(await this.#begun(id, asked, () => workerFollower.refresh()));
    }
    setTrainingForm({ nextId: newRunId("train"), name: "" });
    useRuns.setState({ latest: started });
    return started;
  }

  /** The launch of the form's run as a script, and the bytes that go with it; what the page has itself is sent first. */
  async script(tell: Tell, signal: AbortSignal): Promise<{ script: string; bytes: number }> {
    const { id, written } = await this.#sendInputs(tell, signal);
    return this.#answered(id, this.clients.worker.script(trainingForm().target, written));
  }
}

export const workerTraining = new WorkerTraining(page);
