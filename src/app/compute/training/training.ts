/** Updating the student: the core's loop in the compute worker, drawn as it goes. */

import * as Comlink from "comlink";
import { InputError } from "../../../core/errors.ts";
import { teacherOf } from "../../../core/method/index.ts";
import { describeFault, isAbort, isDeviceFault } from "../../base/faults.ts";
import { Latest } from "../../base/latest.ts";
import { countOf } from "../../base/plural.ts";
import { shownName } from "../../base/text/shown-text.ts";
import type { FolderFiles } from "../../data/files/blob-folder.ts";
import { libraryWorker } from "../../data/library-client.ts";
import type { DecisionModel } from "../../data/model.ts";
import { libraryNames, libraryOf } from "../../data/open-libraries.ts";
import { isComputing } from "../computing.ts";
import { computeWithGames } from "../games/games.ts";
import { withGames } from "../games/live-games.ts";
import { keepTrained, noteStudentOf } from "../models/kept-student.ts";
import { requirePlan } from "../models/memory.ts";
import { models } from "../models/models.ts";
import { configField } from "../runs/config-fields.ts";
import { pageRuns } from "../runs/page-runs.ts";
import type { Run } from "../runs/run.ts";
import { getRuns, newRunId, patchRun } from "../runs/runs-store.ts";
import { getUi, IDLE_TRAINING, setUi } from "../store.ts";
import { runTitle } from "./training-data.ts";
import { follow, patchTraining, showProgress } from "./training-events.ts";
import { trainingForm } from "./training-form.ts";
import { formPlan, type KeptPlan, type PagePlan, planTraining, sameInputs } from "./training-plan.ts";
import { useSending, workerTraining } from "./worker-training.ts";

/** Names a run's method only where it is not the default. */
const under = (words: string): string => (words === configField("method").standard ? "" : ` under ${words}`);

const runs = new Latest();
/** Id of the run of this page that goes on, or went on last: the worker may have begun another since. */
let present: string | null = null;

/** Starts what the form describes, in the page or on the worker. */
export async function startTraining(): Promise<void> {
  if (trainingForm().where !== "page") return startThere();
  if (isComputing()) return;
  await runHere(async () => {
    const plan = { id: newRunId("page"), ...(await formPlan()) };
    return { plan, title: runTitle(plan.config), again: false, own: null };
  });
}

/** Lets a run of the page that was stopped, cancelled or lost go on from its last checkpoint. */
export async function resumeHere(id: string): Promise<void> {
  if (isComputing()) {
    setUi({ notice: { kind: "error", text: "A model is at work: stop it, then resume the run." } });
    return;
  }
  await runHere(async () => {
    const plan = (await pageRuns.planOf(id)) as KeptPlan | null;
    if (plan === null) throw new InputError("this browser did not keep what the run would go on with");
    const { library, own, differing } = await sameInputs(plan.fingerprint);
    if (library === null)
      throw new InputError(
        `the run was over another ${differing.join(" and ")}: open ${differing.length === 1 ? "it" : "them"} first (${differing.map((name) => plan.fingerprint[name]).join("; ")})`,
      );
    const { endOfTurn = false } = plan;
    const title = getRuns().runs[id]?.title ?? id;
    return { plan: { ...plan, library, endOfTurn }, title, again: true, own };
  }, id);
}

async function runHere(
  /** `own`: the student that is its own teacher, where it is not the present one. */
  prepare: () => Promise<{ plan: PagePlan; title: string; again: boolean; own: FolderFiles | null }>,
  known?: string,
): Promise<void> {
  const { decision } = getUi();
  const isLatest = runs.begin();
  let words = "";
  setUi({ training: { ...IDLE_TRAINING, status: "running" } });
  let id: string | null = null;
  present = null;
  try {
    if (known !== undefined) {
      await pageRuns.take(known);
      id = known;
      present = id;
    }
    const prepared = await prepare();
    const { title, again } = prepared;
    let { plan } = prepared;
    if (!isLatest()) return;
    if (id === null) {
      await pageRuns.take(plan.id);
      id = plan.id;
      present = id;
    }
    words = plan.words;
    patchTraining({ method: words });
    const read = libraryOf(getUi().libraries, plan.library)?.summary;
    patchTraining({ library: plan.library, run: id });
    pageRuns.begin({ id, title, config: plan.written }, plan);
    if (!again) await noteStudentOf(id);
    showProgress("Measuring what the models will read", 0, 0);
    const passes = await requirePlan("train", () => planTraining(plan));
    if (!isLatest()) return;
    const plays = plan.live !== undefined || plan.evaluation !== undefined;
    if (plays) {
      showProgress("Opening the games", 0, 0);
      plan = await withGames(plan);
      if (!isLatest()) return;
      await pageRuns.keepPlan(id, plan);
    }
    showProgress("Opening the models", 0, 0);
    const asked = teacherOf(plan.method);
    await (asked === "named" ? models.ensure("teacher") : models.closeTeacher());
    const own = asked === "student" ? (prepared.own ?? (await models.job("train")).student) : null;
    const { api } = await models.ensure("student");
    if (plays) await computeWithGames();
    await api.takePasses(passes);
    if (!isLatest()) return;
    const shown = decision === null || plan.watch === null || again ? null : decision;
    if (shown !== null) {
      const { episode, decision: at } = shown;
      const options = { by: "student", endOfTurn: plan.endOfTurn } as const;
      const pair = await libraryWorker().pair(shown, episode, at, {}, options);
      if (!isLatest()) return;
      patchTraining({
        watch: { pieces: pair.pieces, label: watchLabel(shown), history: [] },
      });
    }
    const started = plan.id;
    const result = await api.train(
      { ...plan, watch: shown === null ? null : plan.watch },
      own,
      Comlink.proxy((event) => {
        if (isLatest()) follow(event, started);
      }),
    );
    if (!isLatest()) return;
    const { done, total, faults } = getUi().training;
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
    models.studentTrained(result.folder, result.steps, record, { id: plan.id, done });
    await keepTrained(plan.id, done);
    if (!isLatest()) return;
    const text = [
      result.finished
        ? `Done: ${countOf(done, "step")}${under(words)}.`
        : `Stopped after ${done} of ${total} steps${under(words)}.`,
      `The student has ${countOf(result.steps, "optimizer step")} now.`,
      faults > 0 &&
        `The device failed ${faults === 1 ? "once" : `${faults} times`} on the way; each time the run went on from its last checkpoint.`,
    ]
      .filter((sentence) => sentence !== false)
      .join(" ");
    pageRuns.end(
      plan.id,
      result.finished ? "done" : "cancelled",
      result.finished ? null : "stopped after its step",
    );
    patchTraining({ status: "idle", work: null, message: { kind: "info", text } });
    // What was scored with the student before is of the student before.
    setUi({ scores: {} });
  } catch (error) {
    if (!isLatest()) return;
    models.studentLost();
    if (isDeviceFault(error)) models.endWorker();
    const message = isAbort(error)
      ? ({ kind: "info", text: "Cancelled. The student is as it was before this run." } as const)
      : ({
          kind: "error",
          text: `${describeFault(error)} The student is as it was before this run.`,
        } as const);
    if (id !== null)
      pageRuns.end(id, isAbort(error) ? "cancelled" : "failed", isAbort(error) ? null : message.text);
    patchTraining({ status: "idle", work: null, message });
  }
}

/** Which decision is watched; with its library where there are several. */
function watchLabel({ library, episode, decision }: DecisionModel): string {
  const { libraries } = getUi();
  const of = libraries.length > 1 ? ` of ${libraryNames(libraries).get(library) ?? "a closed library"}` : "";
  return `${shownName(episode, 80)}, decision ${decision}${of}`;
}

/** Sends the form's run to the worker; its events come by themselves. A second press while it is sent does nothing. */
async function startThere(): Promise<void> {
  if (useSending.getState().label !== null) return;
  const controller = new AbortController();
  useSending.setState({ label: "Getting ready", cancel: () => controller.abort() });
  patchTraining({ message: null });
  try {
    await workerTraining.start((label) => useSending.setState({ label }), startAgain, controller.signal);
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

function startAgain({ id, title, state }: Run): boolean {
  return window.confirm(
    `The worker has a run of exactly this config: “${shownName(title)}”, ${id}, ${state}. Start it once more?`,
  );
}

/** Ends the run after the present step; asked again, at once, and the run's steps are lost. */
export async function stopTraining(): Promise<void> {
  const { training } = getUi();
  const isLatest = runs.present();
  const id = present;
  if (training.status === "running") {
    patchTraining({ status: "stopping" });
    if (id !== null) patchRun(id, { state: "cancelling", message: "it ends after its present step" });
    void (await models.worker()).api.stop();
    return;
  }
  if (training.status !== "stopping") return;
  patchTraining({ status: "cancelling" });
  if (id !== null) patchRun(id, { message: "it is ended at once" });
  if (!(await models.stopWork(() => isLatest() && getUi().training.status === "cancelling"))) return;
  runs.end();
  if (id !== null) pageRuns.end(id, "cancelled", null);
  patchTraining({
    status: "idle",
    work: null,
    message: { kind: "info", text: "Cancelled. The student is as it was before this run." },
  });
}
