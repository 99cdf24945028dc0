import { expect, it } from "vitest";
import { launched } from "../../../test/support/launched.ts";
import { NO_FIGURES } from "../compute/runs/run.ts";
import { newRun } from "../compute/runs/runs-store.ts";
import { getUi, IDLE_TRAINING } from "../compute/store.ts";
import type { LiveRun } from "../features/evaluation/live-runs-store.ts";
import { tasksAtWork, type Work } from "./at-work.ts";

const nothing: Work = {
  ui: getUi(),
  liveRuns: {},
  runs: {},
  scoreJobs: [],
  hub: { download: null },
  keeping: null,
  sending: { label: null, cancel: null },
  cost: { doing: null },
};

const evaluation: LiveRun = {
  id: "evaluate-1",
  plan: {
    ...{ kind: "evaluate", role: "student", environment: "alfworld" },
    ...{ tasks: ["a"], seeds: [0, 1, 2], at_once: 32 },
  },
  model: { name: "m", digest: "d" },
  ids: ["a#0", "a#1", "a#2"],
  ...{ state: "running", message: null, created: "2026-01-01T00:00:00Z", share: 0.5, kept: true },
  outcomes: new Map([["a#0", null]]),
  ...{ since: null, endedNow: false, elsewhere: false },
};

const run = (id: string, where: "page" | "worker") => newRun({ id, where, title: id, config: {} });

it("lists nothing where nothing is running: no run that has ended, nor this tab's own", () => {
  const runs = {
    a: { ...run("a", "worker"), state: "done" as const },
    b: { ...run("b", "page"), state: "running" as const, stream: "live" as const },
  };
  expect(tasksAtWork({ ...nothing, runs })).toEqual([]);
});

it("lists everything that is running, with what ends it", () => {
  const progress = { label: "Reading", done: 1, total: 4, unit: "records" };
  const tasks = tasksAtWork({
    ui: {
      opening: progress,
      modelLoading: { teacher: { ...progress, label: "Opening the teacher", cancel: () => undefined } },
      scoring: { status: "cancelling", job: "contexts", key: "k" },
      training: { ...IDLE_TRAINING, status: "stopping", run: "r" },
      playing: { label: "Decision 3: the student writes", stopping: false },
      liveRun: "evaluate-1",
      studying: { library: "a", label: "GC-OPD, seed 1", done: 3, total: 8, stopping: false },
    },
    liveRuns: {
      "evaluate-1": evaluation,
      "evaluate-2": { ...evaluation, id: "evaluate-2", elsewhere: true },
      "evaluate-3": { ...evaluation, id: "evaluate-3", state: "lost" },
    },
    runs: {
      r: { ...run("r", "page"), state: "cancelling", figures: { ...NO_FIGURES, done: 2, total: 3 } },
      t: { ...run("t", "worker"), state: "running" },
      f: {
        ...{ ...run("f", "worker"), where: "target", state: "done" },
        launched: launched({ doing: { what: "fetch", since: "2026-01-01T00:00:00Z" } }),
      },
      o: { ...run("o", "page"), state: "cancelling", stream: "other-tab" },
    },
    scoreJobs: [{ id: "score-1", title: "score-1", state: "running" }],
    hub: {
      download: {
        file: "f",
        what: "downloading",
        done: 1,
        total: 2,
        label: "owner/model",
        eta: null,
        stopping: false,
      },
    },
    keeping: "teacher",
    sending: { label: "Submitting", cancel: () => undefined },
    cost: { doing: "Measuring" },
  });
  expect(
    tasks.map(({ name, detail, done, total, end }) => [
      `${name}: ${detail}`,
      done,
      total,
      end?.label ?? null,
    ]),
  ).toEqual([
    ["Reading: ", 1, 4, "Cancel"],
    ["Opening the teacher: ", 1, 4, "Cancel"],
    ["Downloading owner/model: ", 1, 2, "Stop"],
    ["Keeping a copy of the teacher: ", 0, 0, null],
    ["Students of the evidence test: GC-OPD, seed 1", 3, 8, "Stop"],
    ["Playing: Decision 3: the student writes", 0, 0, "Stop"],
    ["Scoring: cancel requested", 0, 0, null],
    ["Training: step 3 of 3, starting", 2, 3, "Stop at once"],
    ["Evaluation: 1 of 3 episodes", 1, 3, "Cancel"],
    ["Evaluation, in another tab: 1 of 3 episodes", 1, 3, null],
    ["Starting a run on the worker: Submitting", 0, 0, "Cancel"],
    ["Cost of a run on the worker: Measuring", 0, 0, "Cancel"],
    ["t, on the worker: running", 0, 0, "Stop after its step"],
    ["o, in another tab: cancelling", 0, 0, "Cancel"],
    ["Fetching the results of f: ", 0, 0, null],
    ["score-1, scoring on the worker: running", 0, 0, "Cancel"],
  ]);
});

it("names a trained student that is being kept, which nothing ends", () => {
  const work = { label: "Writing a checkpoint", done: 1200, total: 5300, unit: "MB" };
  const ui = { ...nothing.ui, training: { ...IDLE_TRAINING, status: "keeping", run: "r", work } } as const;
  expect(tasksAtWork({ ...nothing, ui })).toEqual([
    {
      ...{ key: "kept-student", name: "Keeping the trained student", detail: "Writing a checkpoint" },
      ...{ done: 1200, total: 5300, end: null },
    },
  ]);
});

it("calls the probe of a time by its name, whatever run was here before, until it has ended", () => {
  const runs = {
    r: { ...run("r", "page"), state: "done", figures: { ...NO_FIGURES, done: 3, total: 3 } },
  } as const;
  const shown = (status: "probing" | "probe-cancelling") => {
    const ui = { ...nothing.ui, training: { ...IDLE_TRAINING, status, run: "r" } };
    return tasksAtWork({ ...nothing, ui, runs }).map(({ name, total, end }) => [name, total, end?.label]);
  };
  expect(shown("probing")).toEqual([["Probe of the time", 0, "Cancel"]]);
  expect(shown("probe-cancelling")).toEqual([["Probe of the time", 0, undefined]]);
});
