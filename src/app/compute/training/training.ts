/** Updating the student: the core's loop in the compute worker, drawn as it goes. */

import * as Comlink from "comlink";
import { InputError } from "../../../core/errors.ts";
import { teacherOf } from "../../../core/method/index.ts";
import { countOf } from "../../../core/plural.ts";
import { describeFault, isAbort, isDeviceFault } from "../../base/faults.ts";
import { Latest } from "../../base/latest.ts";
import { shownName } from "../../base/text/shown-text.ts";
import type { FolderFiles } from "../../data/files/blob-folder.ts";
import { originFiles } from "../../data/files/origin-files.ts";
import { libraryWorker } from "../../data/library-client.ts";
import type { DecisionModel } from "../../data/model.ts";
import { libraryNames, libraryOf } from "../../data/open-libraries.ts";
import { checkAtRest, isDeviceBusy, isModelAtWork } from "../computing.ts";
import { computeWithGames } from "../games/games.ts";
import { withGames } from "../games/live-games.ts";
import * as keptStudent from "../models/kept-student.ts";
import { requirePlan } from "../models/memory.ts";
import { models } from "../models/models.ts";
import { configField } from "../runs/config-fields.ts";
import { pageRuns } from "../runs/internal/page-runs.ts";
import { NO_FIGURES, type Run } from "../runs/run.ts";
import { getRuns, newRunId, patchRun } from "../runs/runs-store.ts";
import { stateWord } from "../runs/state-word.ts";
import { scoringRuns } from "../scoring/scoring-run.ts";
import { getUi, IDLE_TRAINING, setUi } from "../store.ts";
import { runTitle } from "./internal/training-data.ts";
import { follow, patchTraining, showProgress } from "./internal/training-events.ts";
import { trainingForm } from "./training-form.ts";
import type { KeptPlan, PagePlan } from "./training-plan.ts";
import * as trainingPlan from "./training-plan.ts";
import { useSending, workerTraining } from "./worker-training.ts";

/** A folder that the worker sent, once its files are held here too. */
async function held(folder: FolderFiles): Promise<FolderFiles> {
  await originFiles.hold(folder.files.values());
  return folder;
}

/** Names a run's method only where it is not the default. */
const under = (words: string): string => (words === configField("method").standard ? "" : ` under ${words}`);

const UNCHANGED = "The student is as it was before this run.";
const NOT_KEPT = `The run’s last steps are not kept. ${UNCHANGED} Resume continues from the last checkpoint, or starts over if there is none.`;
const CANCELLED = { kind: "info", text: `Cancelled. ${UNCHANGED}` } as const;

const page = {
  ...{ models, runs: pageRuns, library: libraryWorker, plans: trainingPlan, there: workerTraining },
  ...{ scoring: scoringRuns },
  ...{ withGames, computeWithGames, kept: keptStudent },
};

/** Runs that update the student: one at a time in the page, and those that are sent to the worker. */
export class StudentTraining {
  readonly #turns = new Latest();
  /** Id of the run of this page that goes on, or went on last: the worker may have begun another since. */
  #present: string | null = null;
  /** Its student is here, and only being kept: nothing is left to cancel. */
  #trained = false;

  constructor(private readonly clients: typeof page) {}

  /** Starts what the form describes, in the page or on the worker. */
  async start(): Promise<void> {
    if (trainingForm().where !== "page") return this.#startThere();
    if (isModelAtWork()) return;
    await this.#runHere(async () => {
      const plan = { id: newRunId("page"), ...(await this.clients.plans.formPlan()) };
      // Runs of one config differ where one began with what the other had made.
      const { steps = 0 } = this.clients.models.studentState().student ?? {};
      const title = `${runTitle(plan.config)}${steps === 0 ? "" : `, student with ${countOf(steps, "step")}`}`;
      return { plan, title, again: false, own: null };
    });
  }

  /**
   * Lets a run of the page that was stopped, cancelled or lost go on from its last checkpoint.
   *
   * @throws InputError while a model is at work
   */
  async resume(id: string): Promise<void> {
    checkAtRest("resume the run");
    const { runs, plans } = this.clients;
    await this.#runHere(async () => {
      const plan = (await runs.planOf(id)) as KeptPlan | null;
      if (plan === null) throw new InputError("this browser did not keep what the run would go on with");
      const { library, own, differing } = await plans.sameInputs(plan.fingerprint);
      if (library === null)
        throw new InputError(
          `the run was over another ${differing.join(" and ")}: open ${differing.length === 1 ? "it" : "them"} first (${differing.map((name) => plan.fingerprint[name]).join("; ")})`,
        );
      const { endOfTurn = false } = plan;
      const title = getRuns().runs[id]?.title ?? id;
      return { plan: { ...plan, library, endOfTurn }, title, again: true, own };
    }, id);
  }

  async #runHere(
    /** `own`: the student that is its own teacher, where it is not the present one. */
    prepare: () => Promise<{ plan: PagePlan; title: string; again: boolean; own: FolderFiles | null }>,
    known?: string,
  ): Promise<void> {
    const { decision } = getUi();
    const { models, runs, plans, kept } = this.clients;
    const isLatest = this.#turns.begin();
    /** Waits for a part of what comes before the first step: a run that was stopped meanwhile does not begin. */
    const wait = async <T>(part: Promise<T>): Promise<T> => {
      const result = await part;
      if (!isLatest() || getUi().training.status !== "running")
        throw new DOMException("stopped", "AbortError");
      return result;
    };
    let id: string | null = null;
    const take = async (run: string): Promise<void> => {
      await runs.take(run);
      if (isLatest()) this.#present = id = run;
      else runs.end(run, "cancelled", null);
    };
    let words = "";
    setUi({ training: { ...IDLE_TRAINING, status: "running" } });
    this.#present = null;
    this.#trained = false;
    try {
      if (known !== undefined) await wait(take(known));
      const prepared = await wait(prepare());
      const { title, again } = prepared;
      let { plan } = prepared;
      words = plan.words;
      patchTraining({ method: words });
      showProgress("Measuring what the models will read", 0, 0);
      // What does not fit never becomes a run.
      const passes = await wait(requirePlan("train", () => plans.planTraining(plan)));
      if (known === undefined) await wait(take(plan.id));
      const read = libraryOf(getUi().libraries, plan.library)?.summary;
      patchTraining({ library: plan.library, run: plan.id });
      runs.begin({ id: plan.id, title, config: plan.written }, plan);
      if (!again) await wait(kept.noteStudentOf(plan.id));
      const plays = plan.live !== undefined || plan.evaluation !== undefined;
      if (plays) {
        showProgress("Opening the games", 0, 0);
        plan = await wait(this.clients.withGames(plan));
        await wait(runs.keepPlan(plan.id, plan));
      }
      showProgress("Opening the models", 0, 0);
      const asked = teacherOf(plan.method);
      await wait<unknown>(asked === "named" ? models.ensure("teacher") : models.closeTeacher());
      const own = asked === "student" ? (prepared.own ?? (await models.workload("train")).student) : null;
      const { api } = await wait(models.ensure("student"));
      if (plays) await wait(this.clients.computeWithGames());
      await wait(api.takePasses(passes));
      const shown = decision === null || plan.watch === null || again ? null : decision;
      if (shown !== null) {
        const { episode, decision: at } = shown;
        const options = { by: "student", endOfTurn: plan.endOfTurn } as const;
        const { pieces } = await wait(this.clients.library().tasks.pair(shown, episode, at, {}, options));
        patchTraining({ watch: { pieces, label: watchLabel(shown), history: [] } });
      }
      const started = plan.id;
      let faults = 0;
      const result = await api.train(
        { ...plan, watch: shown === null ? null : plan.watch },
        own,
        Comlink.proxy((event) => {
          if (!isLatest()) return;
          if (event.type === "loop" && event.event.type === "fault") faults++;
          follow(event, started);
        }),
      );
      if (!isLatest()) return;
      this.#trained = true;
      const { finished } = result;
      const { done, total } = getRuns().runs[started]?.figures ?? NO_FIGURES;
      const { teacher, student } = getUi().models;
      const record = {
        ended: new Date().toISOString(),
        evidence: words,
        method: plan.method,
        settings: plan.settings,
        episodes_per_step: plan.batchSize,
        seed: plan.seed,
        library: { title: read?.title ?? "", files: read?.files ?? [] },
        episodes: plan.episodes.map(({ environment, task, episode }) => ({ environment, task, episode })),
        ...(plan.live === undefined ? {} : { live: plan.live }),
        steps: { done, planned: total, of_the_student: result.steps },
        teacher: { named: teacher, student, none: null }[asked]?.info ?? null,
        student: student?.info ?? null,
      };
      const text = [
        finished
          ? `Done: ${countOf(done, "step")}${under(words)}.`
          : `Stopped after ${done} of ${total} steps${under(words)}.`,
        faults > 0 &&
          `The device failed ${faults === 1 ? "once" : `${faults} times`} on the way; each time the run went on from its last checkpoint.`,
      ]
        .filter((sentence) => sentence !== false)
        .join(" ");
      const folder = result.folder === null ? api.keptStudent().then(held) : await held(result.folder);
      const trained = models.studentTrained(folder, result.steps, record, { id: plan.id, done });
      if (result.folder === null) {
        const keeping = "The browser is keeping the student: it can score meanwhile.";
        const message = { kind: "info", text: `${text} ${keeping}` } as const;
        patchTraining({ status: "keeping", work: null, message });
        patchRun(plan.id, { message: "the browser is keeping its student" });
      }
      await trained;
      await kept.keepTrained(plan.id, done);
      if (!isLatest()) return;
      runs.end(plan.id, finished ? "done" : "cancelled", null);
      patchTraining({ status: "idle", work: null, message: { kind: "info", text } });
    } catch (error) {
      if (!isLatest()) return;
      models.studentLost();
      const wasKeeping = getUi().training.status === "keeping";
      // Scores made meanwhile belong to the student that is lost.
      if (wasKeeping) await this.clients.scoring.cancel();
      // Scoring that does not stop ends the worker itself. Ended here, it would leave that scoring without an answer.
      if (isDeviceFault(error) && !(wasKeeping && isDeviceBusy())) models.endWorker();
      const then = wasKeeping ? NOT_KEPT : UNCHANGED;
      const fault = isAbort(error) ? null : `${describeFault(error).replace(/\.$/, "")}. ${then}`;
      if (id !== null) runs.end(id, fault === null ? "cancelled" : "failed", fault);
      void kept.keepAsItIs();
      const message = fault === null ? CANCELLED : ({ kind: "error", text: fault } as const);
      patchTraining({ status: "idle", work: null, message });
    }
  }

  /** Sends the form's run to the worker; its events come by themselves. A second press while it is sent does nothing. */
  async #startThere(): Promise<void> {
    if (useSending.getState().label !== null) return;
    const controller = new AbortController();
    useSending.setState({ label: "Getting ready", cancel: () => controller.abort() });
    patchTraining({ message: null });
    try {
      await this.clients.there.start(
        (label) => useSending.setState({ label }),
        startAgain,
        controller.signal,
      );
    } catch (error) {
      patchTraining({
        message: isAbort(error)
          ? { kind: "info", text: "Nothing was started. What was sent already stays on the worker." }
          : { kind: "error", text: describeFault(error) },
      });
    } finally {
      useSending.setState({ label: null, cancel: null });
    }
  }

  /** Ends the run after the present step; asked again, at once, and the run's steps are lost. */
  async stop(): Promise<void> {
    const { training } = getUi();
    const { models, runs, kept } = this.clients;
    const isLatest = this.#turns.present();
    const id = this.#present;
    if (training.status === "running") {
      patchTraining({ status: "stopping" });
      if (id !== null) patchRun(id, { state: "cancelling", message: "it ends after its present step" });
      // A worker that was ended meanwhile, or could not start, has nothing to stop.
      models
        .worker()
        .then(({ api }) => api.stop())
        .catch(() => undefined);
      return;
    }
    if (training.status !== "stopping") return;
    patchTraining({ status: "cancelling" });
    const goesOn = () => isLatest() && getUi().training.status === "cancelling" && !this.#trained;
    if (id !== null) patchRun(id, { message: "it is ended at once" });
    if (!(await models.stopWork(goesOn))) return;
    this.#turns.end();
    if (id !== null) runs.end(id, "cancelled", null);
    void kept.keepAsItIs();
    patchTraining({ status: "idle", work: null, message: CANCELLED });
  }
}

/** Which decision is watched; with its library where there are several. */
function watchLabel({ library, episode, decision }: DecisionModel): string {
  const { libraries } = getUi();
  const of = libraries.length > 1 ? ` of ${libraryNames(libraries).get(library) ?? "a closed library"}` : "";
  return `${shownName(episode, 80)}, decision ${decision}${of}`;
}

function startAgain(run: Run): boolean {
  return window.confirm(
    `The worker has a run of exactly this config: “${shownName(run.title)}”, ${run.id}, ${stateWord(run)}. Start it once more?`,
  );
}

export const studentTraining = new StudentTraining(page);
