/** One decision in the algorithm's order: what matched, what was eligible, what won, what the teacher reads. */
import { memo } from "react";
import type { DecisionModel, TaskModel } from "../../../model.ts";
import { navigate } from "../../../place/navigate.ts";
import { Scroller } from "../../../shell/scroller.tsx";
import { useUi } from "../../../state/store.ts";
import { LongText } from "../../../text/long-text.tsx";
import { CompareBar } from "../compare/compare-bar.tsx";
import { AnchorSection } from "./anchor-section.tsx";
import { CandidateTable } from "./candidate-table.tsx";
import { DecisionSection } from "./decision-section.tsx";
import { EvidenceSection } from "./evidence-section.tsx";
import { FailedSection } from "./failed-section.tsx";
import { Funnel } from "./funnel.tsx";
import { PinnedVisit } from "./pinned-visit.tsx";
import { VerifySection } from "./verify-section.tsx";
import { WhatIfSection } from "./what-if-section.tsx";

const CASES: Record<DecisionModel["retrieval"]["record"]["case"], string> = {
  matched_success: "Matched, with an eligible success",
  matched_no_success: "Matched, without an eligible success",
  unmatched_success: "Not matched, the student succeeded",
  unmatched_failure: "Not matched, the student did not succeed",
};

export const Inspector = memo(function Inspector({
  task,
  decision,
}: {
  task: TaskModel;
  decision: DecisionModel | null;
}) {
  const problem = useUi((ui) => ui.viewProblem);
  const pinned = useUi((ui) => ui.place.visit);
  if (decision === null) {
    return (
      <Scroller className="panel inspector" label="Decision">
        {pinned && <PinnedVisit task={task} visit={pinned} decision={null} />}
        <p className="nothing" role={problem === null ? undefined : "alert"} data-testid="view-problem">
          {problem ??
            (task.episodes.length === 0
              ? "No student episode of this task is open: drop a file of episodes to see retrieval."
              : "Reading the decision…")}
        </p>
        {problem !== null && (
          <p className="nothing">
            <button
              type="button"
              onClick={() =>
                navigate({ episode: null, decision: 0, visit: null, part: null, token: null }, "push")
              }
            >
              First decision of the task
            </button>
          </p>
        )}
        {task.episodes.length === 0 && <VerifySection task={task} />}
      </Scroller>
    );
  }
  const { explanation, record } = decision.retrieval;
  const { selection } = decision;
  // The minimum-prefix control and a choice by hand retain what they do for other reasons.
  const byRules = selection.control !== "minimum-prefix";
  return (
    <Scroller className="panel inspector" label="Decision">
      <CompareBar />
      {pinned && <PinnedVisit task={task} visit={pinned} decision={decision} />}
      <WhatIfSection decision={decision} />
      <DecisionSection decision={decision} />
      <section className="part" aria-labelledby="retrieval-title">
        <h2 id="retrieval-title">
          Retrieval <span className={`case ${record.case}`}>{CASES[record.case]}</span>
        </h2>
        <p className="sentence" data-testid="sentence">
          <LongText text={explanation.sentence} first={3000} />
        </p>
        <Funnel retrieval={decision.retrieval} />
        <CandidateTable task={task} decision={decision} />
      </section>
      <AnchorSection retrieval={decision.retrieval} byRules={byRules && selection.pin === undefined} />
      <FailedSection decision={decision} byRules={byRules && selection.pinFailure === undefined} />
      <EvidenceSection decision={decision} />
      <VerifySection task={task} />
    </Scroller>
  );
});
