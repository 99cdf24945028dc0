/** Actions that set a model to work, and what is made of its figures. */
import { navigate } from "../../place/navigate.ts";
import { RESUMABLE } from "../../runs/run.ts";
import { getRuns } from "../../runs/runs-store.ts";
import { scoreChanges } from "../../session/changes.ts";
import { scoreDistributions } from "../../session/distribution.ts";
import { switchEndOfTurn } from "../../session/end-of-turn.ts";
import { openHub } from "../../session/hub.ts";
import { scoreLeftOut, scorePointed } from "../../session/leave-out.ts";
import { revertStudent } from "../../session/models.ts";
import { chooseSharedModel } from "../../session/other-model.ts";
import { scoreReferences } from "../../session/other-references.ts";
import { resumeRun, stopRun, useNaming } from "../../session/run-actions.ts";
import { cancelScoring, scoreDecision, scoreKey } from "../../session/score.ts";
import { askTeacher } from "../../session/teacher-actions.ts";
import { startTraining, stopTraining } from "../../session/training.ts";
import { responsesOf, trainingForm } from "../../session/training-form.ts";
import { probeTraining } from "../../session/training-probe.ts";
import { measureOnWorker } from "../../session/worker-cost.ts";
import { useSending } from "../../session/worker-training.ts";
import { getUi, ROLES, setUi } from "../../state/store.ts";
import { compareSides, standardOf } from "../../views/tokens/comparison.ts";
import { largestChanges } from "../../views/tokens/largest-changes.ts";
import {
  type Action,
  aDecision,
  aLibrary,
  aPrompt,
  type Blocked,
  needs,
  noModelAtWork,
  scores,
} from "./action.ts";

function show(view: "tokens" | "training"): void {
  if (getUi().place.view !== view) navigate({ view }, "push");
}

/** The two sides that the tokens view compares; null where the decision is not scored. */
function compared() {
  const { decision, scores: all, place } = getUi();
  const known = decision === null ? undefined : all[scoreKey(decision)];
  return known === undefined ? null : compareSides(known, decision!.recorded, place.compare);
}

/** Selects the token whose change is the next larger or smaller one; where none was chosen, the largest is selected. */
function stepChange(by: 1 | -1): boolean {
  const deltas = compared()?.deltas ?? null;
  if (deltas === null) return false;
  const order = largestChanges(deltas);
  const { token } = getUi().place;
  const at = token === null ? 0 : order.indexOf(token);
  const next = order[at < 0 ? 0 : at + by];
  if (next === undefined) return false;
  show("tokens");
  navigate({ token: next });
  return true;
}

/** Where the job over many decisions says how far it is: further down in the tokens view. */
function showChanges(): void {
  show("tokens");
  requestAnimationFrame(() => document.getElementById("changes-title")?.scrollIntoView({ block: "start" }));
}

const sending: Blocked = () => (useSending.getState().label === null ? null : "a run is being sent");

/** A live run trains on games: only its evidence is of the library. */
const whatToTrainOn: Blocked = (ui) => (responsesOf(trainingForm()) === "live" ? aLibrary : aDecision)(ui);

const recordedResponses: Blocked = () =>
  responsesOf(trainingForm()) === "recorded" ? null : "the responses are still to be drawn";

/** The run that is looked at, or the one started last. */
function shownRun() {
  const { runs, latest } = getRuns();
  const id = getUi().place.view === "runs" ? (getUi().place.run ?? latest) : latest;
  return id === null ? null : (runs[id] ?? null);
}

export const WORK: readonly Action[] = [
  {
    id: "score",
    title: "Score this decision",
    group: "Tokens",
    keys: ["s"],
    words: "teacher log-probabilities",
    blocked: needs(aDecision, aPrompt, noModelAtWork),
    run: () => {
      show("tokens");
      void scoreDecision();
    },
  },
  {
    id: "end-of-turn",
    title: "Switch the end-of-turn token of text responses on or off",
    group: "Tokens",
    words: "eos im_end response scoring training",
    run: switchEndOfTurn,
  },
  {
    id: "case-study",
    title: "Case study of this decision",
    group: "Tokens",
    keys: ["c"],
    words: "table copy markdown latex csv export",
    blocked: needs(aDecision, scores),
    inDialog: "case",
    run: () => {
      if (getUi().caseOpen) return setUi({ caseOpen: false });
      show("tokens");
      // The view that has the dialog may be drawn first.
      requestAnimationFrame(() => setUi({ caseOpen: true }));
    },
  },
  {
    id: "next-change",
    title: "Next smaller change of a token",
    group: "Tokens",
    keys: ["."],
    words: "largest delta",
    blocked: needs(aDecision, scores),
    run: () => stepChange(1),
  },
  {
    id: "previous-change",
    title: "Next larger change of a token",
    group: "Tokens",
    keys: [","],
    words: "largest delta",
    blocked: needs(aDecision, scores),
    run: () => stepChange(-1),
  },
  {
    id: "distributions",
    title: "Top-k, rank and entropy of both sides",
    group: "Tokens",
    keys: ["d"],
    words: "distribution most probable tokens argmax",
    blocked: needs(aDecision, scores, noModelAtWork),
    run: () => {
      const sides = compared();
      if (sides === null) return false;
      show("tokens");
      void scoreDistributions([sides.base, sides.side]);
      return true;
    },
  },
  {
    id: "leave-out-records",
    title: "Leave out each record of the evidence",
    group: "Tokens",
    words: "which part moved this token",
    blocked: needs(aDecision, scores, noModelAtWork),
    run: () => {
      show("tokens");
      void scoreLeftOut(null);
    },
  },
  {
    id: "leave-out-events",
    title: "Leave out each event of the evidence",
    group: "Tokens",
    words: "which part moved this token attribution explain",
    blocked: needs(aDecision, scores, noModelAtWork),
    run: () => {
      show("tokens");
      void scoreLeftOut("all events");
    },
  },
  {
    id: "leave-out-marked",
    title: "Leave out the marked part of the evidence",
    group: "Tokens",
    keys: ["o"],
    words: "event record which part moved this token",
    blocked: needs(aDecision, scores, noModelAtWork, ({ place }) =>
      place.part === null ? "mark a part of the evidence first" : null,
    ),
    run: () => {
      show("tokens");
      void scorePointed();
    },
  },
  {
    id: "ask-teacher",
    title: "Ask the teacher what it would do instead",
    group: "Tokens",
    words: "generate decode sample greedy action",
    blocked: needs(aDecision, scores, noModelAtWork),
    run: () => {
      show("tokens");
      void askTeacher();
    },
  },
  {
    id: "score-references",
    title: "Score the response under other references",
    group: "Tokens",
    words: "eligible evidence same robust",
    blocked: needs(aDecision, scores, noModelAtWork),
    run: () => {
      show("tokens");
      void scoreReferences();
    },
  },
  {
    id: "show-marked",
    title: "Show the marked part in the evidence",
    group: "Tokens",
    keys: ["e"],
    words: "span record event",
    blocked: needs(aDecision, ({ place }) =>
      place.part === null ? "mark a part of the evidence first" : null,
    ),
    run: () => navigate({ view: "task" }, "push"),
  },
  {
    id: "score-episode",
    title: "Measure all decisions of this episode",
    group: "Tokens",
    words: "score largest changes job",
    blocked: needs(aDecision, noModelAtWork),
    run: () => {
      showChanges();
      void scoreChanges("episode");
    },
  },
  {
    id: "score-task",
    title: "Measure all decisions of this task",
    group: "Tokens",
    words: "score largest changes job",
    blocked: needs(aDecision, noModelAtWork),
    run: () => {
      showChanges();
      void scoreChanges("task");
    },
  },
  {
    id: "swap-sides",
    title: "Swap the two compared sides",
    group: "Tokens",
    keys: ["x"],
    words: "delta base compare",
    blocked: needs(aDecision, scores),
    run: () => {
      const { place, decision, scores: all } = getUi();
      const usual = standardOf(decision === null ? [] : (all[scoreKey(decision)]?.sides ?? []));
      const { base, side } = place.compare ?? usual;
      const swapped = { base: side, side: base };
      const standard = swapped.base === usual.base && swapped.side === usual.side;
      navigate({ compare: standard ? null : swapped });
    },
  },
  {
    id: "further-model",
    title: "Compare with another model of the worker’s disk",
    group: "Tokens",
    words: "side add shared folder checkpoint",
    blocked: needs(aDecision, scores, noModelAtWork, () =>
      getRuns().worker.files?.shared == null ? "no worker shares a folder with this page" : null,
    ),
    run: () => {
      show("tokens");
      chooseSharedModel(true);
    },
  },
  {
    id: "cancel-scoring",
    title: "Cancel scoring",
    group: "Tokens",
    words: "stop",
    blocked: ({ scoring }) => (scoring.status === "running" ? null : "nothing is being scored"),
    run: () => void cancelScoring(),
  },
  {
    id: "update",
    title: "Update the student",
    group: "Train",
    keys: ["u"],
    words: "train step run",
    blocked: ({ place, ...ui }) => {
      if (place.view !== "training") return null;
      return trainingForm().where !== "page"
        ? sending({ place, ...ui })
        : needs(whatToTrainOn, noModelAtWork)({ place, ...ui });
    },
    run: () => {
      // The first press only shows what would be done.
      if (getUi().place.view !== "training") show("training");
      else void startTraining();
    },
  },
  {
    id: "probe-time",
    title: "Probe the time of the run before it starts",
    group: "Train",
    words: "measure cost plan how long",
    blocked: ({ place, ...ui }) => {
      if (place.view !== "training") return "open the training view first";
      return trainingForm().where !== "page"
        ? sending({ place, ...ui })
        : needs(aDecision, recordedResponses, noModelAtWork)({ place, ...ui });
    },
    run: () => void (trainingForm().where !== "page" ? measureOnWorker(true) : probeTraining()),
  },
  {
    id: "rename-run",
    title: "Rename the shown run",
    group: "Train",
    words: "name title call",
    blocked: () => {
      const run = shownRun();
      if (run === null) return "there is no run";
      return run.where === "target" ? "a run on a target is known by its id" : null;
    },
    run: () => useNaming.setState({ id: shownRun()!.id }),
  },
  {
    id: "stop-training",
    title: "Stop the run after this step",
    group: "Train",
    words: "cancel end update",
    blocked: ({ training }) => (training.status === "running" ? null : "no run is under way"),
    run: () => void stopTraining(),
  },
  {
    id: "stop-run",
    title: "Stop the shown run after its step",
    group: "Train",
    words: "cancel end job worker",
    blocked: () => {
      const run = shownRun();
      if (run === null) return "there is no run";
      return run.state === "running" || run.state === "queued" ? null : "the run is not going on";
    },
    run: () => void stopRun(shownRun()!.id),
  },
  {
    id: "resume-run",
    title: "Resume the shown run",
    group: "Train",
    words: "continue go on job worker checkpoint",
    blocked: () => {
      const run = shownRun();
      if (run === null) return "there is no run";
      if (run.stream === "other-tab") return "another tab has the run";
      return RESUMABLE.includes(run.state) ? null : "only a cancelled, failed or lost run can go on";
    },
    run: () => void resumeRun(shownRun()!.id),
  },
  {
    id: "revert-student",
    title: "Revert to the loaded student",
    group: "Train",
    words: "reset undo",
    blocked: needs(noModelAtWork, ({ models }) =>
      models.student?.origin === "updated" ? null : "the student was not updated here",
    ),
    run: () => void revertStudent(),
  },
  ...ROLES.map(
    (role): Action => ({
      id: `${role}-by-name`,
      title: `Another ${role} by its name, or one kept in this browser`,
      group: role === "teacher" ? "Tokens" : "Train",
      words: "hub download model huggingface open",
      run: () => openHub(role),
    }),
  ),
];
