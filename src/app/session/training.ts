/** Updating the student: the core's loop in the compute worker, drawn as it goes. */
import * as Comlink from "comlink";
import { InputError } from "../../core/errors.ts";
import { configuredMethod, configuredSettings, type TrainConfig } from "../../core/loop/train-config.ts";
import type { Method } from "../../core/method/index.ts";
import type { DecisionModel, LibrarySummary } from "../model.ts";
import { configField } from "../runs/config-fields.ts";
import type { Run } from "../runs/run.ts";
import { getRuns, newRunId, patchRun, takeEvent } from "../runs/runs-store.ts";
import { countOf } from "../shell/plural.ts";
import { isComputing } from "../state/computing.ts";
import { libraryNames, libraryOf } from "../state/libraries.ts";
import { getUi, IDLE_TRAINING, type StepPoint, setUi } from "../state/store.ts";
import { shownName } from "../text/shown-text.ts";
import { libraryWorker } from "../workers/clients.ts";
import type { PlanToMeasure, RunEvent, TrainingPlan } from "../workers/training-run.ts";
import { describeFault, isAbort, isDeviceFault } from "./faults.ts";
import { computeWithGames } from "./games.ts";
import { keepTrained, noteStudentOf } from "./kept-student.ts";
import { ensureGames, liveEvaluation, liveTraining } from "./live-games.ts";
import { requirePlan, showPlan } from "./memory.ts";
import {
  computeWorker,
  endComputeWorker,
  ensureModel,
  ensureTokenizers,
  modelsJob,
  studentLost,
  studentTrained,
} from "./models.ts";
import { beginPageRun, endPageRun, notePageRun, planOfRun, takePageRun } from "./page-runs.ts";
import { stopComputing } from "./stop-computing.ts";
import { composeConfig } from "./training-config.ts";
import { chosenEpisodes, runTitle, shownLibrary } from "./training-data.ts";
import { methodWords, trainingForm } from "./training-form.ts";
import { startOnWorker, useSending } from "./worker-training.ts";

/** Names a run's method only where it is not the default. */
const under = (words: string): string => (words === configField("method").standard ? "" : ` under ${words}`);

let run = 0;
/** Id of the run of this page that goes on, or went on last: the worker may have begun another since. */
let present: string | null = null;

/** Starts what the form describes, in the page or on the worker. */
export async function startTraining(): Promise<void> {
  if (trainingForm().where === "worker") return startThere();
  if (isComputing()) return;
  await runHere(async () => {
    const plan = { id: newRunId("page"), ...(await formPlan()) };
    return { plan, title: runTitle(plan.config), again: false };
  });
}

/** Lets a run of the page that was stopped, cancelled or lost go on from its last checkpoint. */
export async function resumeHere(id: string): Promise<void> {
  if (isComputing()) {
    setUi({ notice: { kind: "error", text: "A model is at work: stop it, then resume the run." } });
    return;
  }
  await runHere(async () => {
    const plan = (await planOfRun(id)) as KeptPlan | null;
    if (plan === null) throw new InputError("this browser did not keep what the run would go on with");
    const { library, differing } = await sameInputs(plan.fingerprint);
    if (library === null)
      throw new InputError(
        `the run was over another ${differing.join(" and ")}: open ${differing.length === 1 ? "it" : "them"} first (${differing.map((name) => plan.fingerprint[name]).join("; ")})`,
      );
    const { endOfTurn = false } = plan;
    return { plan: { ...plan, library, endOfTurn }, title: getRuns().runs[id]?.title ?? id, again: true };
  }, id);
}

/** A plan with what it was made from. */
type PagePlan = TrainingPlan & { config: TrainConfig; written: Record<string, unknown>; words: string };

/** A plan as the browser kept it. Those of earlier versions, whose runs had no end-of-turn token, do not name it. */
type KeptPlan = Omit<PagePlan, "endOfTurn"> & Partial<Pick<PagePlan, "endOfTurn">>;

/**
 * The open library that a plan was over, the shown one first; null with the names of what differs where the teacher is
 * another or no open library is the same.
 */
async function sameInputs(
  made: Record<string, string>,
): Promise<{ library: string | null; differing: string[] }> {
  const { libraries, library } = getUi();
  const shownFirst = [library, ...libraries.map(({ summary }) => summary)].filter((each) => each !== null);
  let differing = ["library"];
  for (const [i, each] of shownFirst.entries()) {
    const now = await fingerprint(each);
    const other = Object.keys(now).filter((name) => now[name] !== made[name]);
    if (other.length === 0) return { library: each.id, differing: [] };
    if (i === 0 || other.length < differing.length) differing = other;
  }
  return { library: null, differing };
}

/** What a checkpoint of this page was made from, in words. */
async function fingerprint(library: LibrarySummary): Promise<Record<string, string>> {
  const { teacher } = await modelsJob("train");
  const files = library.files.map(
    ({ name, bytes, records }) => `${name}, ${bytes} bytes, ${records} records`,
  );
  return {
    library: `${library.title}: ${files.join("; ")}`,
    teacher: `${teacher.name}: ${[...teacher.files].map(([name, { size }]) => `${name} ${size}`).join(", ")}`,
  };
}

/** A run needs a teacher that reads the student's tokens. Throws `InputError` when the open one does not. */
function checkSameTokens(): void {
  const { training } = getUi().tokenizerFit;
  if (training !== null)
    throw new InputError(
      `the teacher reads other tokens than the student, and a run needs the same: ${training}`,
    );
}

/**
 * What the form describes, as the page runs it.
 *
 * @throws InputError for the first field that is wrong
 */
export async function formPlan(): Promise<Omit<PagePlan, "id">> {
  const { decision } = getUi();
  const { config, problems, written } = composeConfig();
  const [problem] = Object.entries(problems);
  if (config === null) throw new InputError(problem![1], { key: problem![0] });
  checkSameTokens();
  const method = configuredMethod(config);
  const { end_of_turn: endOfTurn = true } = config;
  const live = await liveTraining(config);
  const evaluation = await liveEvaluation(config);
  const { library, episodes: all } =
    live === null ? await chosenEpisodes(trainingForm().data) : { library: shownLibrary(), episodes: [] };
  const episodes = all.slice(0, config.limit ?? all.length);
  const pair =
    decision === null
      ? null
      : await libraryWorker().pair(
          decision,
          decision.episode,
          decision.decision,
          {},
          { by: "student", endOfTurn },
        );
  return {
    config,
    written,
    words: methodWords(config),
    method,
    settings: configuredSettings(config),
    batchSize: config.batch_size,
    seed: config.seed,
    library: library.id,
    episodes,
    ...(live === null ? {} : { live }),
    ...(evaluation === null ? {} : { evaluation }),
    ...(config.sample === undefined ? {} : { sample: config.sample }),
    ...(config.evidence_tokens === undefined ? {} : { evidenceTokens: config.evidence_tokens }),
    endOfTurn,
    ...("checkpoint_every" in written ? { checkpointEvery: config.checkpoint_every } : {}),
    fingerprint: await fingerprint(library),
    watch: pair && { id: "watch", promptIds: pair.vanillaIds, responseIds: pair.responseIds },
  };
}

async function runHere(
  prepare: () => Promise<{ plan: PagePlan; title: string; again: boolean }>,
  known?: string,
): Promise<void> {
  const { decision } = getUi();
  run += 1;
  const mine = run;
  let words = "";
  setUi({ training: { ...IDLE_TRAINING, status: "running" } });
  let id: string | null = null;
  present = null;
  try {
    if (known !== undefined) {
      await takePageRun(known);
      id = known;
      present = id;
    }
    const { plan, title, again } = await prepare();
    if (mine !== run) return;
    if (id === null) {
      await takePageRun(plan.id);
      id = plan.id;
      present = id;
    }
    words = plan.words;
    patch({ method: words });
    const read = libraryOf(getUi().libraries, plan.library)?.summary;
    patch({ library: plan.library, run: id });
    beginPageRun({ id, title, config: plan.written }, plan);
    if (!again) await noteStudentOf(id);
    progress("Measuring what the models will read", 0, 0);
    const passes = await requirePlan("train", () => planTraining(plan));
    if (mine !== run) return;
    const played = [plan.live, plan.evaluation?.measured].filter((each) => each !== undefined);
    if (played.length > 0) progress("Opening the games", 0, 0);
    for (const games of played) await ensureGames(games);
    progress("Opening the models", 0, 0);
    await ensureModel("teacher");
    const { api } = await ensureModel("student");
    if (played.length > 0) await computeWithGames();
    await api.takePasses(passes);
    if (mine !== run) return;
    const perPass = Math.ceil((plan.live?.tasks ?? plan.episodes).length / plan.batchSize);
    const stageSteps = { vanilla: 0, graph: 0 };
    for (const { epochs, evidence } of plan.method.stages)
      stageSteps[evidence.kind === "none" ? "vanilla" : "graph"] += epochs * perPass;
    patch({ stageSteps });
    const shown = decision === null || plan.watch === null || again ? null : decision;
    if (shown !== null) {
      const { episode, decision: at } = shown;
      const options = { by: "student", endOfTurn: plan.endOfTurn } as const;
      const pair = await libraryWorker().pair(shown, episode, at, {}, options);
      if (mine !== run) return;
      patch({
        watch: { pieces: pair.pieces, label: watchLabel(shown), history: [] },
      });
    }
    const started = plan.id;
    const result = await api.train(
      { ...plan, watch: shown === null ? null : plan.watch },
      Comlink.proxy((event) => {
        if (mine === run) follow(event, plan.method, started);
      }),
    );
    if (mine !== run) return;
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
      teacher: teacher?.info ?? null,
      student: student?.info ?? null,
    };
    studentTrained(result.folder, result.steps, record, { id: plan.id, done });
    await keepTrained(plan.id, done);
    if (mine !== run) return;
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
    endPageRun(
      plan.id,
      result.finished ? "done" : "cancelled",
      result.finished ? null : "stopped after its step",
    );
    patch({ status: "idle", work: null, message: { kind: "info", text } });
    // What was scored with the student before is of the student before.
    setUi({ scores: {} });
  } catch (error) {
    if (mine !== run) return;
    studentLost();
    if (isDeviceFault(error)) endComputeWorker();
    const message = isAbort(error)
      ? ({ kind: "info", text: "Cancelled. The student is as it was before this run." } as const)
      : ({
          kind: "error",
          text: `${describeFault(error)} The student is as it was before this run.`,
        } as const);
    if (id !== null)
      endPageRun(id, isAbort(error) ? "cancelled" : "failed", isAbort(error) ? null : message.text);
    patch({ status: "idle", work: null, message });
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
  patch({ message: null });
  try {
    await startOnWorker((label) => useSending.setState({ label }), startAgain, controller.signal);
  } catch (error) {
    patch({
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

/** What a plan of the page will read and need. */
export async function planTraining({
  method,
  library,
  episodes,
  live,
  sample,
  evidenceTokens,
  endOfTurn,
}: PlanToMeasure) {
  await ensureTokenizers();
  const [{ api }, job] = await Promise.all([computeWorker(), modelsJob("train")]);
  const planned = await api.planTraining(job, {
    method,
    library,
    episodes,
    ...(live === undefined ? {} : { live }),
    ...(sample === undefined ? {} : { sample }),
    ...(evidenceTokens === undefined ? {} : { evidenceTokens }),
    endOfTurn,
  });
  useSending.setState({ work: planned.work });
  return planned;
}

/** Shows what the run that the form describes will need. */
export function showTrainingPlan(): Promise<void> {
  const { decision } = getUi();
  return showPlan("train", async () => {
    const { config } = composeConfig();
    const live = config?.environment !== undefined;
    if ((decision === null && !live) || trainingForm().where === "worker" || config === null) return null;
    return planTraining(await formPlan());
  });
}

function patch(change: Partial<ReturnType<typeof getUi>["training"]>): void {
  setUi((ui) => ({ training: { ...ui.training, ...change } }));
}

function progress(label: string, done: number, total: number, unit = "tokens"): void {
  patch({ work: { label, done, total, unit } });
}

/** One event of the loop, as the view shows it. */
function follow(event: RunEvent, method: Method, id: string): void {
  const { training } = getUi();
  if (event.type === "unkept") {
    const text = `This browser keeps no checkpoint of the run (${event.reason}): it cannot go on after the page is closed.`;
    patchRun(id, { message: text });
    return;
  }
  if (event.type === "best-lost") {
    const text = "This browser had no room for the best evaluated checkpoint: it made way for the newest.";
    patchRun(id, { message: text });
    return;
  }
  if (event.type === "watch") {
    const { watch } = training;
    if (watch === null) return;
    patch({
      watch: { ...watch, history: [...watch.history, { step: event.step, logprobs: event.logprobs }] },
    });
    return;
  }
  if (event.type === "work") {
    const { what, done, total, unit } = event.work;
    takeEvent(id, { type: "work", ...event.work }, "");
    progress(
      {
        teacher: "Teacher scores the batch",
        student: "Student: forward, backward, update",
        rollout: "Student plays",
        evaluation: "Student is measured",
      }[what],
      done,
      total,
      unit,
    );
    return;
  }
  const { event: loop } = event;
  takeEvent(id, loop, new Date().toISOString());
  notePageRun(id);
  if (loop.type === "start") patchRun(id, { state: "running" });
  if (loop.type === "start") patch({ total: loop.steps, done: loop.resumedFrom ?? 0 });
  else if (loop.type === "excluded") patch({ total: loop.steps });
  else if (loop.type === "fault") {
    // Steps after the last kept state are taken again.
    const { watch, points } = training;
    patch({
      done: loop.step,
      faults: training.faults + 1,
      points: points.filter(({ step }) => step <= loop.step),
      watch: watch && { ...watch, history: watch.history.filter(({ step }) => step <= loop.step) },
    });
    progress(`Device failed; going on after step ${loop.step} (${loop.attempt} of ${loop.attempts})`, 0, 0);
  } else if (loop.type === "step") progress("Reading the episodes", 0, 0);
  else if (loop.type === "updated") {
    const { loss, gradNorm, alignment, clipFraction, tokens } = loop.metrics;
    const stage = method.stages[loop.stage]?.evidence.kind === "none" ? "vanilla" : "graph";
    const point: StepPoint = {
      step: loop.step,
      stage,
      loss,
      gradNorm,
      alignment,
      clipFraction,
      tokens,
      seconds: loop.seconds,
    };
    patch({ done: loop.step, points: [...training.points, point] });
  }
}

/** Ends the run after the present step; asked again, at once, and the run's steps are lost. */
export async function stopTraining(): Promise<void> {
  const { training } = getUi();
  const mine = run;
  const id = present;
  if (training.status === "running") {
    patch({ status: "stopping" });
    if (id !== null) patchRun(id, { state: "cancelling", message: "it ends after its present step" });
    void (await computeWorker()).api.stop();
    return;
  }
  if (training.status !== "stopping") return;
  patch({ status: "cancelling" });
  if (id !== null) patchRun(id, { message: "it is ended at once" });
  if (!(await stopComputing(() => mine === run && getUi().training.status === "cancelling"))) return;
  run += 1;
  if (id !== null) endPageRun(id, "cancelled", null);
  patch({
    status: "idle",
    work: null,
    message: { kind: "info", text: "Cancelled. The student is as it was before this run." },
  });
}
