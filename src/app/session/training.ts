/** Updating the student: the core's loop in the compute worker, drawn as it goes. */
import * as Comlink from "comlink";
import { InputError } from "../../core/errors.ts";
import { METHODS, type Method, withSelection } from "../../core/method/index.ts";
import { PAPER_SETTINGS } from "../../core/ports.ts";
import type { Selection } from "../../core/retrieval/selection.ts";
import type { TaskRef } from "../model.ts";
import { selectionOf } from "../place/what-if.ts";
import { countOf } from "../shell/plural.ts";
import { isComputing } from "../state/computing.ts";
import { getUi, IDLE_TRAINING, type StepPoint, setUi } from "../state/store.ts";
import { libraryWorker } from "../workers/clients.ts";
import type { RunEvent, TrainingPlan } from "../workers/training-run.ts";
import { describeFault, isAbort } from "./faults.ts";
import { computeWorker, endComputeWorker, ensureModel, studentLost, studentTrained } from "./models.ts";
import { trainingForm } from "./training-form.ts";

type EpisodeRef = TaskRef & { episode: string };

/** The episodes that a choice stands for. */
async function chosenEpisodes(scope: "episode" | "task" | "library"): Promise<EpisodeRef[]> {
  const { decision, task, library } = getUi();
  if (decision === null || task === null || library === null) {
    throw new InputError("open a student episode first: there is nothing to train on");
  }
  const named = (ref: TaskRef, ids: readonly string[]): EpisodeRef[] =>
    ids.map((episode) => ({ environment: ref.environment, task: ref.task, episode }));
  if (scope === "episode") return named(decision, [decision.episode]);
  const withDecisions = (episodes: readonly { id: string; decisions: number }[]): string[] =>
    episodes.filter(({ decisions }) => decisions > 0).map(({ id }) => id);
  if (scope === "task") return named(task, withDecisions(task.episodes));
  const all: EpisodeRef[] = [];
  for (const ref of library.tasks) {
    const ids = await libraryWorker().episodeIds({ environment: ref.environment, task: ref.task });
    all.push(...named(ref, ids));
  }
  return all;
}

/** GC-OPD with the passes and the evidence that were asked for; a stage of no pass is left out. */
function method(vanilla: number, graph: number, selection: Selection): Method {
  const passes = [vanilla, graph];
  const stages = METHODS["gc-opd"].stages
    .map((stage, i) => ({ ...stage, epochs: passes[i] ?? 0 }))
    .filter(({ epochs }) => epochs > 0);
  if (stages.length === 0) throw new InputError("nothing to do: both stages have no pass");
  return withSelection({ ...METHODS["gc-opd"], stages }, selection);
}

let run = 0;

export async function startTraining(): Promise<void> {
  if (isComputing()) return;
  const { decision } = getUi();
  const form = trainingForm();
  run += 1;
  const mine = run;
  setUi({ training: { ...IDLE_TRAINING, status: "running" } });
  try {
    const episodes = await chosenEpisodes(form.scope);
    const chosen = method(form.vanillaPasses, form.graphPasses, selectionOf(getUi().place));
    progress("Opening the models", 0, 0);
    await ensureModel("teacher");
    const { api } = await ensureModel("student");
    const pair =
      decision === null ? null : await libraryWorker().pair(decision, decision.episode, decision.decision);
    if (mine !== run) return;
    const perPass = Math.ceil(episodes.length / form.batchSize);
    patch({ stageSteps: { vanilla: form.vanillaPasses * perPass, graph: form.graphPasses * perPass } });
    const plan: TrainingPlan = {
      method: chosen,
      settings: { ...PAPER_SETTINGS, learningRate: form.learningRate },
      batchSize: form.batchSize,
      seed: 42,
      episodes,
      watch: pair && { id: "watch", promptIds: pair.vanillaIds, responseIds: pair.responseIds },
    };
    if (pair && decision) {
      patch({
        watch: {
          pieces: pair.pieces,
          label: `${decision.episode}, decision ${decision.decision}`,
          history: [],
        },
      });
    }
    const graphStage = chosen.stages.findIndex(({ evidence }) => evidence.kind !== "none");
    const result = await api.train(
      plan,
      Comlink.proxy((event) => {
        if (mine === run) follow(event, graphStage);
      }),
    );
    if (mine !== run) return;
    studentTrained(result.folder, result.steps);
    const { done, total } = getUi().training;
    patch({
      status: "idle",
      work: null,
      message: {
        kind: "info",
        text: result.finished
          ? `Done: ${countOf(done, "step")}. The student has ${countOf(result.steps, "optimizer step")} now.`
          : `Stopped after ${done} of ${total} steps. The student has ${countOf(result.steps, "optimizer step")} now.`,
      },
    });
    // What was scored with the student before is of the student before.
    setUi({ scores: {} });
  } catch (error) {
    if (mine !== run) return;
    studentLost();
    patch({
      status: "idle",
      work: null,
      message: isAbort(error)
        ? { kind: "info", text: "Cancelled. The student is as it was before this run." }
        : { kind: "error", text: `${describeFault(error)} The student is as it was before this run.` },
    });
  }
}

function patch(change: Partial<ReturnType<typeof getUi>["training"]>): void {
  setUi((ui) => ({ training: { ...ui.training, ...change } }));
}

function progress(label: string, done: number, total: number): void {
  patch({ work: { label, done, total, unit: "tokens" } });
}

/** One event of the loop, as the view shows it. */
function follow(event: RunEvent, graphStage: number): void {
  const { training } = getUi();
  if (event.type === "watch") {
    const { watch } = training;
    if (watch === null) return;
    patch({
      watch: { ...watch, history: [...watch.history, { step: event.step, logprobs: event.logprobs }] },
    });
    return;
  }
  if (event.type === "work") {
    const { what, done, total } = event.work;
    progress(
      what === "teacher" ? "Teacher scores the batch" : "Student: forward, backward, update",
      done,
      total,
    );
    return;
  }
  const { event: loop } = event;
  if (loop.type === "start") patch({ total: loop.steps });
  else if (loop.type === "step") progress("Reading the episodes", 0, 0);
  else if (loop.type === "updated") {
    const { loss, gradNorm, alignment, clipFraction, tokens } = loop.metrics;
    const stage = loop.stage === graphStage ? "graph" : "vanilla";
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
  if (training.status === "running") {
    patch({ status: "stopping" });
    void (await computeWorker()).api.stop();
    return;
  }
  if (training.status !== "stopping") return;
  patch({ status: "cancelling" });
  void computeWorker().then(({ api }) => api.abort());
  await new Promise((resolve) => setTimeout(resolve, 1500));
  if (mine !== run || getUi().training.status !== "cancelling") return;
  run += 1;
  endComputeWorker();
  patch({
    status: "idle",
    work: null,
    message: { kind: "info", text: "Cancelled. The student is as it was before this run." },
  });
}
