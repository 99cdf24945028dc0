/** Everything that is running, here or on the worker: what it is, its progress, and how to end it. */

import { countOf } from "../../core/plural.ts";
import { ENDED } from "../../protocol/job-state.ts";
import { faultNotice } from "../base/faults.ts";
import type { Progress } from "../base/notice.ts";
import { shownName } from "../base/text/shown-text.ts";
import { stopDownload, type useHub } from "../compute/hub/hub.ts";
import type { useKeptModels } from "../compute/models/kept-models.ts";
import { stopOpening } from "../compute/open/open.ts";
import type { Run } from "../compute/runs/run.ts";
import { cancelRun, stopRun } from "../compute/runs/run-actions.ts";
import { ownFigures, type WorkerState } from "../compute/runs/runs-store.ts";
import { worker } from "../compute/runs/worker-client.ts";
import { scoringRuns } from "../compute/scoring/score.ts";
import { ROLES, setUi, type UiState } from "../compute/store.ts";
import { studentTraining } from "../compute/training/training.ts";
import type { useSending } from "../compute/training/worker-training.ts";
import { liveRuns } from "../features/evaluation/live-runs.ts";
import type { LiveRun } from "../features/evaluation/live-runs-store.ts";
import { studentComparison } from "../features/evidence-test/students/run-students.ts";
import { playPolicy } from "../features/play/play-policy.ts";
import { trainingProbe } from "../features/training/training-probe.ts";
import { type useWorkerCost, workerCost } from "../features/training/worker-cost.ts";

export interface Task {
  /** Stays the same while the task runs. */
  key: string;
  /** What it is; stays the same while the task runs. */
  name: string;
  /** Where it is at; may be empty. */
  detail: string;
  done: number;
  /** 0 where it is not known. */
  total: number;
  /** Ends it; null while it is ending already, or where nothing can end it. */
  end: { label: string; run: () => void } | null;
}

/** What the tasks are read from. */
export interface Work {
  ui: Pick<UiState, "opening" | "modelLoading" | "scoring" | "training" | "playing" | "liveRun" | "studying">;
  liveRuns: Readonly<Record<string, LiveRun>>;
  runs: Readonly<Record<string, Run>>;
  scoreJobs: WorkerState["scoreJobs"];
  hub: Pick<ReturnType<typeof useHub.getState>, "download">;
  keeping: ReturnType<typeof useKeptModels.getState>["keeping"];
  sending: Pick<ReturnType<typeof useSending.getState>, "label" | "cancel">;
  cost: Pick<ReturnType<typeof useWorkerCost.getState>, "doing">;
}

const amount = ({ done, total }: Pick<Progress, "done" | "total">) => ({ done, total });
const cancel = (run: () => unknown) => ({ label: "Cancel", run: () => void run() });

function ofPage({ ui: { scoring, training, playing, studying }, runs }: Work): Task[] {
  const tasks: Task[] = [];
  if (studying !== null)
    tasks.push({
      key: "students",
      name: "Students of the evidence test",
      detail: studying.stopping ? "stop requested" : studying.label,
      ...amount(studying),
      end: studying.stopping ? null : { label: "Stop", run: () => void studentComparison.stop() },
    });
  if (playing !== null)
    tasks.push({
      key: "playing",
      name: "Playing",
      detail: playing.stopping ? "stop requested" : playing.label,
      ...{ done: 0, total: 0 },
      end: playing.stopping ? null : { label: "Stop", run: () => void playPolicy.stop() },
    });
  if (scoring.status === "running")
    tasks.push({
      key: "scoring",
      name: "Scoring",
      detail: scoring.label,
      ...amount(scoring),
      end: cancel(() => scoringRuns.cancel()),
    });
  else if (scoring.status === "cancelling")
    tasks.push({ key: "scoring", name: "Scoring", detail: "cancel requested", done: 0, total: 0, end: null });
  const { status, work } = training;
  if (status === "idle") return tasks;
  const detail = work?.label ?? "starting";
  if (status === "probing" || status === "probe-cancelling")
    tasks.push({
      key: "probe",
      name: "Probe of the time",
      detail,
      done: 0,
      total: 0,
      end: status === "probing" ? cancel(() => trainingProbe.cancel()) : null,
    });
  else if (status === "keeping")
    tasks.push({
      key: "kept-student",
      name: "Keeping the trained student",
      detail: work?.label ?? "",
      ...amount(work ?? { done: 0, total: 0 }),
      end: null,
    });
  else {
    const { done, total } = ownFigures(training, runs);
    tasks.push({
      key: "training",
      name: "Training",
      detail: total === 0 ? detail : `step ${Math.min(done + 1, total)} of ${total}, ${detail}`,
      ...{ done, total },
      end:
        status === "cancelling"
          ? null
          : {
              label: status === "running" ? "Stop after this step" : "Stop at once",
              run: () => void studentTraining.stop(),
            },
    });
  }
  return tasks;
}

const PLACES = { worker: "on the worker", target: "on a target", page: "in another tab" } as const;

/** Runs of the worker, of targets and of other tabs; this tab's own is its training. */
function ofRuns(runs: Work["runs"]): Task[] {
  return Object.values(runs)
    .filter(
      ({ where, state, stream }) => !ENDED.includes(state) && (where !== "page" || stream === "other-tab"),
    )
    .map(({ id, title, where, state, figures: { done, total } }) => ({
      key: id,
      name: `${shownName(title, 80)}, ${PLACES[where]}`,
      detail: `${state}${total === 0 ? "" : `, step ${done} of ${total}`}`,
      done,
      total,
      end:
        state === "running" || state === "queued"
          ? { label: "Stop after its step", run: () => void stopRun(id) }
          : cancel(() => cancelRun(id)),
    }));
}

/** Results that the worker fetches from a target: its progress is unknown, and nothing ends it. */
const ofFetches = (runs: Work["runs"]): Task[] =>
  Object.values(runs)
    .filter(({ launched }) => launched?.doing?.what === "fetch")
    .map(({ id, title }) => ({
      key: `fetch ${id}`,
      name: `Fetching the results of ${shownName(title, 80)}`,
      detail: "",
      done: 0,
      total: 0,
      end: null,
    }));

/** The collection or evaluation that this tab plays, and those of other tabs, which only they end. */
function ofLiveRuns(runs: Work["liveRuns"], own: string | null): Task[] {
  return Object.values(runs)
    .filter(({ id, elsewhere }) => elsewhere || id === own)
    .map(({ id, plan, ids, outcomes, state, elsewhere }) => {
      const what = plan.kind === "collect" ? "Collection" : "Evaluation";
      const counted = ids.length === 0 ? "starting" : `${outcomes.size} of ${countOf(ids.length, "episode")}`;
      return {
        key: id,
        name: elsewhere ? `${what}, in another tab` : what,
        detail: state === "cancelling" ? "cancel requested" : counted,
        ...{ done: outcomes.size, total: ids.length },
        end: elsewhere || state === "cancelling" ? null : cancel(() => liveRuns.cancel()),
      };
    });
}

async function cancelJob(id: string): Promise<void> {
  try {
    await worker.act(id, "cancel");
  } catch (error) {
    setUi({ notice: faultNotice(error) });
  }
}

/** What is running now. The order does not depend on what began first. */
export function tasksAtWork(work: Work): Task[] {
  const { ui, liveRuns, runs, scoreJobs, hub, keeping, sending, cost } = work;
  const tasks: Task[] = [];
  const { opening, modelLoading } = ui;
  if (opening !== null)
    tasks.push({
      key: "opening",
      name: opening.label,
      detail: "",
      ...amount(opening),
      end: cancel(stopOpening),
    });
  for (const role of ROLES) {
    const loading = modelLoading[role];
    if (loading !== undefined)
      tasks.push({
        key: role,
        name: loading.label,
        detail: "",
        ...amount(loading),
        end: loading.cancel === undefined ? null : cancel(loading.cancel),
      });
  }
  const { download } = hub;
  if (download !== null)
    tasks.push({
      key: "download",
      name: `Downloading ${shownName(download.label, 80)}`,
      detail: "",
      ...amount(download),
      end: download.stopping ? null : { label: "Stop", run: stopDownload },
    });
  if (keeping !== null)
    // The browser copies it in one piece, and says only when it is done.
    tasks.push({
      key: "keeping",
      name: `Keeping a copy of the ${keeping}`,
      detail: "",
      done: 0,
      total: 0,
      end: null,
    });
  tasks.push(...ofPage(work));
  tasks.push(...ofLiveRuns(liveRuns, ui.liveRun));
  if (sending.label !== null)
    tasks.push({
      key: "sending",
      name: "Starting a run on the worker",
      detail: sending.label,
      done: 0,
      total: 0,
      end: sending.cancel === null ? null : cancel(sending.cancel),
    });
  if (cost.doing !== null)
    tasks.push({
      key: "measuring",
      name: "Cost of a run on the worker",
      detail: cost.doing,
      done: 0,
      total: 0,
      end: cancel(() => workerCost.cancel()),
    });
  tasks.push(...ofRuns(runs), ...ofFetches(runs));
  for (const { id, title, state } of scoreJobs)
    tasks.push({
      key: id,
      name: `${shownName(title, 80)}, scoring on the worker`,
      detail: state,
      done: 0,
      total: 0,
      end: cancel(() => cancelJob(id)),
    });
  return tasks;
}
