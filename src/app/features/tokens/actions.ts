/** Actions on the tokens of a scored decision, and what sets the teacher to work on them. */

import { type Action, aDecision, aFreeDevice, aPrompt, needs, scores } from "../../compute/action.ts";
import { openHub } from "../../compute/hub/hub.ts";
import { getRuns } from "../../compute/runs/runs-store.ts";
import { scoreDecision, scoringRuns } from "../../compute/scoring/score.ts";
import { getUi } from "../../compute/store.ts";
import { switchEndOfTurn } from "../../data/end-of-turn.ts";
import { navigate, showView } from "../../data/navigate.ts";
import { scoreKey } from "../../data/score-key.ts";
import { scoreLeftOut, scorePointed } from "./attribution/leave-out.ts";
import { setCaseOpen, useCaseOpen } from "./case/case-open.ts";
import { scoreChanges } from "./changes/changes.ts";
import { compareSides, standardOf } from "./comparison.ts";
import { scoreDistributions } from "./distribution.ts";
import { largestChanges } from "./largest-changes.ts";
import { usePickedModel } from "./other-model.ts";
import { scoreReferences } from "./teacher/other-references.ts";
import { askTeacher } from "./teacher/teacher-actions.ts";

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
  showView("tokens");
  navigate({ token: next });
  return true;
}

/** Where the job over many decisions says how far it is: further down in the tokens view. */
function showChanges(): void {
  showView("tokens");
  requestAnimationFrame(() => document.getElementById("changes-title")?.scrollIntoView({ block: "start" }));
}

export const TOKENS: readonly Action[] = [
  {
    id: "score",
    title: "Score this decision",
    group: "Tokens",
    keys: ["s"],
    words: "teacher log-probabilities",
    blocked: needs(aDecision, aPrompt, aFreeDevice),
    run: () => {
      showView("tokens");
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
      if (useCaseOpen.getState().open) return setCaseOpen(false);
      showView("tokens");
      // The view that has the dialog may be drawn first.
      requestAnimationFrame(() => setCaseOpen(true));
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
    blocked: needs(aDecision, scores, aFreeDevice),
    run: () => {
      const sides = compared();
      if (sides === null) return false;
      showView("tokens");
      void scoreDistributions([sides.base, sides.side]);
      return true;
    },
  },
  {
    id: "leave-out-records",
    title: "Leave out each record of the evidence",
    group: "Tokens",
    words: "which part moved this token",
    blocked: needs(aDecision, scores, aFreeDevice),
    run: () => {
      showView("tokens");
      void scoreLeftOut(null);
    },
  },
  {
    id: "leave-out-events",
    title: "Leave out each event of the evidence",
    group: "Tokens",
    keys: ["O"],
    words: "which part moved this token attribution explain",
    blocked: needs(aDecision, scores, aFreeDevice),
    run: () => {
      showView("tokens");
      void scoreLeftOut("all events");
    },
  },
  {
    id: "leave-out-marked",
    title: "Leave out the marked part of the evidence",
    group: "Tokens",
    keys: ["o"],
    words: "event record which part moved this token",
    blocked: needs(aDecision, scores, aFreeDevice, ({ place }) =>
      place.part === null ? "mark a part of the evidence first" : null,
    ),
    run: () => {
      showView("tokens");
      void scorePointed();
    },
  },
  {
    id: "ask-teacher",
    title: "Ask the teacher what it would do instead",
    group: "Tokens",
    words: "generate decode sample greedy action",
    blocked: needs(aDecision, scores, aFreeDevice),
    run: () => {
      showView("tokens");
      void askTeacher();
    },
  },
  {
    id: "score-references",
    title: "Score the response under other references",
    group: "Tokens",
    words: "eligible evidence same robust",
    blocked: needs(aDecision, scores, aFreeDevice),
    run: () => {
      showView("tokens");
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
    blocked: needs(aDecision, aFreeDevice),
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
    blocked: needs(aDecision, aFreeDevice),
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
    blocked: needs(aDecision, scores, aFreeDevice, () =>
      getRuns().worker.files?.shared == null ? "no worker shares a folder with this page" : null,
    ),
    run: () => {
      showView("tokens");
      usePickedModel.setState({ choosing: true });
    },
  },
  {
    id: "cancel-scoring",
    title: "Cancel scoring",
    group: "Tokens",
    words: "stop",
    blocked: ({ scoring }) => (scoring.status === "running" ? null : "nothing is being scored"),
    run: () => void scoringRuns.cancel(),
  },
  {
    id: "teacher-by-name",
    title: "Another teacher by its name, or one kept in this browser",
    group: "Tokens",
    words: "hub download model huggingface open",
    run: () => openHub("teacher"),
  },
];
