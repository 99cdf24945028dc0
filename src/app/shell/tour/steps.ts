/**
 * The guided tour of the sample: each step points at an element of a real view and says what stands there. Every figure
 * is read from the state of the page.
 */

import { countOf } from "../../../core/plural.ts";
import { nats, probability, shortToken } from "../../base/format.ts";
import { isDeviceBusy } from "../../compute/computing.ts";
import { scoreDecision, scoreKey } from "../../compute/scoring/score.ts";
import { evidenceDeltas, withEvidence, withoutEvidence } from "../../compute/side.ts";
import type { TokenScores, UiState } from "../../compute/store.ts";
import { trainingForm } from "../../compute/training/training-form.ts";
import type { DecisionModel } from "../../data/model.ts";
import { largestChanges } from "../../features/tokens/largest-changes.ts";
import type { Place } from "../../url/place.ts";

export interface TourStep {
  id: string;
  title: string;
  place: Partial<Place>;
  /** CSS selector of what is pointed at. */
  target: string;
  /** What is seen there; null until it is. */
  text: (ui: UiState) => string | null;
  /** Said while there is no text. */
  waiting?: (ui: UiState) => string;
  /** What Next does before it goes on, and what it is called then; null when it only goes on. */
  act?: (ui: UiState) => { label: string; run: () => void } | null;
}

/** A task that no model of the sample was trained on, at a decision with many matched visits. */
const HERE: Partial<Place> = { task: "find-non-living-thing|36|easy", decision: 4 };

const distinct = (names: readonly string[]): number => new Set(names).size;

const scoresOf = ({ decision, scores }: UiState): TokenScores | undefined =>
  decision === null ? undefined : scores[scoreKey(decision)];

/** A text about the decision that the place names: the one before may stay on the screen a moment longer. */
function ofDecision(text: (decision: DecisionModel, ui: UiState) => string) {
  return (ui: UiState): string | null => {
    const { decision, place } = ui;
    const here = decision !== null && decision.task === place.task && decision.decision === place.decision;
    return here ? text(decision, ui) : null;
  };
}

function libraryText({ library }: UiState): string | null {
  if (library === null) return null;
  const sum = (pick: "sources" | "episodes"): number =>
    library.tasks.reduce((total, task) => total + task[pick], 0);
  return `${countOf(library.tasks.length, "task")} with ${countOf(sum("sources"), "recorded execution")} and ${countOf(sum("episodes"), "student episode")}. “Decisions matched” is the share of the student’s decisions in a state that some execution also visited.`;
}

const matrixText = ofDecision(({ decision }, { task }) => {
  const sources = task?.sources.length ?? 0;
  const states = task?.states ?? [];
  const shared = states.filter(({ executions }) => executions > 1).length;
  return `Each row is an execution of this task: the student’s on top, ${sources} recorded ones below. Column ${decision} is where the student is now. The same letter means the same state; ${shared} of ${countOf(states.length, "state")} occur in several executions.`;
});

const sameStateText = ofDecision(({ decision, retrieval: { explanation } }) => {
  const { matched } = explanation;
  const eligible = matched.filter((visit) => visit.eligible).length;
  const executions = distinct(matched.map(({ source }) => source));
  return `At decision ${decision} the student is in a state that ${countOf(executions, "execution")} reached, in ${countOf(matched.length, "visit")}. Of these, ${eligible} may serve as evidence.`;
});

const evidenceText = ofDecision(({ counts, evidence }) =>
  counts === null
    ? `The evidence as the teacher reads it: ${countOf(evidence.text.length, "character")}.`
    : `The evidence as the teacher reads it: ${countOf(counts.evidence, "token")} at the end of the user’s message. The student never sees it.`,
);

const scoreText = ofDecision(({ counts }, ui) => {
  const response = counts === null ? "the same response tokens" : countOf(counts.response, "response token");
  if (scoresOf(ui) !== undefined) return `The teacher has read the student’s ${response} twice.`;
  return `The teacher reads the student’s ${response} twice on this machine: without and with the evidence.`;
});

function deltaText(ui: UiState): string | null {
  const scores = scoresOf(ui);
  if (scores === undefined) return null;
  const at = largestChanges(evidenceDeltas(scores))[0] ?? 0;
  const [before, after] = [withoutEvidence(scores).logprobs[at]!, withEvidence(scores).logprobs[at]!];
  return `Each token is coloured by Δ, the change in its log-probability. Largest: “${shortToken(scores.pieces[at]!)}” goes from ${probability(before)} without to ${probability(after)} with the evidence, Δ ${nats(after - before, true)}.`;
}

function deltaWaiting({ scoring }: UiState): string {
  if (scoring.status === "failed") return `Scoring failed: ${scoring.message}`;
  if (scoring.status !== "running")
    return "Nothing is scored yet: go back and press Score, or go on without.";
  const share = scoring.total > 0 ? ` ${Math.round((100 * scoring.done) / scoring.total)} %` : "";
  return `Scoring…${share} You may go on without waiting.`;
}

function trainingText(): string {
  const [vanillaPasses = "1", graphPasses = "1"] = trainingForm().passes;
  return `An update moves the student towards the teacher: ${vanillaPasses} × over its data without evidence, then ${graphPasses} × with it. The preset “sample” takes steps large enough to see; z takes it back. Ctrl K finds every action, ? lists the keys.`;
}

export const STEPS: readonly TourStep[] = [
  { id: "library", title: "A library", place: { view: "library" }, target: ".task-panel", text: libraryText },
  {
    id: "matrix",
    title: "One task, execution by execution",
    place: { view: "task", ...HERE },
    target: ".matrix-panel",
    text: matrixText,
  },
  {
    id: "same-state",
    title: "The same state",
    place: { view: "task", ...HERE },
    target: ".funnel",
    text: sameStateText,
  },
  {
    id: "reference",
    title: "Which record, and why",
    place: { view: "task", ...HERE },
    target: "[data-testid=sentence]",
    text: ofDecision(
      ({ retrieval: { explanation } }) =>
        `This sentence names the record that is retained and says why. Below it stand all ${countOf(explanation.matched.length, "matching visit")}, each with its rank or the reason for its rejection.`,
    ),
  },
  {
    id: "evidence",
    title: "What the teacher is shown",
    place: { view: "task", ...HERE },
    target: "[data-testid=evidence]",
    text: evidenceText,
  },
  {
    id: "score",
    title: "One response, two contexts",
    place: { view: "tokens", ...HERE },
    target: ".scoring",
    text: scoreText,
    act: (ui) =>
      scoresOf(ui) !== undefined || ui.decision === null || isDeviceBusy()
        ? null
        : { label: "Score", run: () => void scoreDecision() },
  },
  {
    id: "delta",
    title: "What the evidence changes",
    place: { view: "tokens", ...HERE },
    target: "[data-testid=strip]",
    text: deltaText,
    waiting: deltaWaiting,
  },
  {
    id: "training",
    title: "The student learns from it",
    place: { view: "training", ...HERE },
    target: ".training-form, .form-fold",
    text: trainingText,
  },
];
