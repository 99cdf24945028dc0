/** Actions that update the student. */

import {
  type Action,
  aDecision,
  aLibrary,
  type Blocked,
  needs,
  noModelAtWork,
} from "../../compute/action.ts";
import { whyAtWork } from "../../compute/computing.ts";
import { openHub } from "../../compute/hub/hub.ts";
import { refusal } from "../../compute/models/memory.ts";
import { models } from "../../compute/models/models.ts";
import { getUi } from "../../compute/store.ts";
import { studentTraining } from "../../compute/training/training.ts";
import { responsesOf, trainingForm } from "../../compute/training/training-form.ts";
import { useSending } from "../../compute/training/worker-training.ts";
import { showView } from "../../data/navigate.ts";
import { trainingProbe } from "./training-probe.ts";
import { workerCost } from "./worker-cost.ts";

const sending: Blocked = () => (useSending.getState().label === null ? null : "a run is being sent");

/** A live run trains on games: only its evidence is of the library. */
const whatToTrainOn: Blocked = (ui) => (responsesOf(trainingForm()) === "live" ? aLibrary : aDecision)(ui);

const roomForIt: Blocked = () => refusal("train");

const recordedResponses: Blocked = () =>
  responsesOf(trainingForm()) === "recorded" ? null : "the responses are still to be drawn";

export const TRAINING: readonly Action[] = [
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
        : needs(whatToTrainOn, noModelAtWork, roomForIt)({ place, ...ui });
    },
    run: () => {
      // The first press only shows what would be done.
      if (getUi().place.view !== "training") showView("training");
      else void studentTraining.start();
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
    run: () => void (trainingForm().where !== "page" ? workerCost.onWorker(true) : trainingProbe.start()),
  },
  {
    id: "stop-training",
    title: "Stop the run after this step",
    group: "Train",
    words: "cancel end update",
    blocked: (ui) => {
      if (ui.training.status === "running") return null;
      return ui.training.status === "keeping" ? whyAtWork(ui) : "no run is under way";
    },
    run: () => void studentTraining.stop(),
  },
  {
    id: "revert-student",
    title: "Revert to the loaded student",
    group: "Train",
    words: "reset undo",
    blocked: needs(noModelAtWork, ({ models }) =>
      models.student?.origin === "updated" ? null : "the student was not updated here",
    ),
    run: () => void models.revertStudent(),
  },
  {
    id: "student-by-name",
    title: "Another student by its name, or one kept in this browser",
    group: "Train",
    words: "hub download model huggingface open",
    run: () => openHub("student"),
  },
];
