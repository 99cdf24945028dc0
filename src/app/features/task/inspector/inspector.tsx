/** One decision: what was retained and why, what the student saw and did, what the teacher reads. */
import { memo, useRef } from "react";
import { Scroller } from "../../../base/scroller.tsx";
import { ProblemButtons } from "../../../compute/open/needs-task.tsx";
import { useUi } from "../../../compute/store.ts";
import type { DecisionModel, TaskModel } from "../../../data/model.ts";
import { CompareBar } from "../compare/compare-bar.tsx";
import { AnswerSection } from "./answer-section.tsx";
import { DecisionSection } from "./decision-section.tsx";
import { EvidenceSection } from "./evidence-section.tsx";
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
            <ProblemButtons />
          </p>
        )}
        {task.episodes.length === 0 && <VerifySection task={task} />}
      </Scroller>
    );
  }
  return <DecisionInspector task={task} decision={decision} />;
});

function DecisionInspector({ task, decision }: { task: TaskModel; decision: DecisionModel }) {
  const pinned = useUi((ui) => ui.place.visit);
  const inspector = useRef<HTMLElement>(null);
  const kind = decision.retrieval.record.case;
  const goTo = (part: string): void => {
    const target = inspector.current?.querySelector<HTMLElement>(`[data-part="${part}"]`);
    target?.scrollIntoView({ block: "start" });
    target?.focus({ preventScroll: true });
  };
  return (
    <Scroller className="panel inspector" label="Decision" ref={inspector}>
      <div className="inspector-head">
        <h2 id="decision-title">Decision {decision.decision}</h2>
        <span className={`case ${kind}`} title={CASES[kind]}>
          {CASES[kind]}
        </span>
        <button type="button" onClick={() => goTo("answer")}>
          Why
        </button>
        <button type="button" onClick={() => goTo("evidence")}>
          Evidence
        </button>
      </div>
      <CompareBar />
      {pinned && <PinnedVisit task={task} visit={pinned} decision={decision} />}
      <WhatIfSection decision={decision} />
      <AnswerSection task={task} decision={decision} />
      <DecisionSection decision={decision} />
      <EvidenceSection decision={decision} />
      <VerifySection task={task} />
    </Scroller>
  );
}
