/** The retained references, where they join the student's execution, and why: what a decision is opened for. */

import { countOf } from "../../../../core/plural.ts";
import type { Reference } from "../../../../core/record/schema.ts";
import { Mark } from "../../../base/mark.tsx";
import { LongText } from "../../../base/text/long-text.tsx";
import { Name } from "../../../base/text/name.tsx";
import { shownName } from "../../../base/text/shown-text.ts";
import type { DecisionModel, TaskModel } from "../../../data/model.ts";
import { goToDecision, navigate } from "../../../data/navigate.ts";
import { CandidateTable } from "./candidate-table.tsx";
import { FailedVisits } from "./failed-visits.tsx";
import { Funnel } from "./funnel.tsx";
import {
  decisionsLeft,
  outcomeOf,
  type ReferenceKind,
  type RetainedOutcome,
  referenceSign,
  whereItJoins,
  whyNone,
  withEvent,
} from "./retained.ts";
import { SourceButton } from "./what-if-buttons.tsx";

export function AnswerSection({ task, decision }: { task: TaskModel; decision: DecisionModel }) {
  const { explanation } = decision.retrieval;
  return (
    <section className="part answer" aria-label="Retrieval" data-part="answer" tabIndex={-1}>
      <Retained decision={decision} kind="success" />
      <Retained decision={decision} kind="failure" />
      <p className="sentence" data-testid="sentence">
        <LongText text={explanation.sentence} first={3000} />
      </p>
      <Funnel retrieval={decision.retrieval} />
      <CandidateTable task={task} decision={decision} />
      {explanation.failed !== null && explanation.failed.candidates.length > 0 && (
        <FailedVisits decision={decision} failed={explanation.failed} />
      )}
    </section>
  );
}

const TITLES: Record<RetainedOutcome, string> = {
  success: "Successful reference",
  failure: "Failed reference",
  unknown: "Reference of unknown outcome",
};

function Retained({ decision, kind }: { decision: DecisionModel; kind: ReferenceKind }) {
  const { record, explanation } = decision.retrieval;
  const reference = record[kind];
  const outcome = outcomeOf(kind, explanation);
  return (
    <div
      className={`retained ${outcome}${reference === null ? " none" : ""}`}
      data-testid={`retained-${kind}`}
    >
      <h3>
        <Mark success={outcome === "unknown" ? null : outcome === "success"} /> {TITLES[outcome]}
      </h3>
      {reference === null ? (
        <p className="muted">
          None: <LongText text={whyNone(decision, kind)} first={1000} />
        </p>
      ) : (
        <Joined decision={decision} reference={reference} />
      )}
    </div>
  );
}

function Joined({ decision, reference }: { decision: DecisionModel; reference: Reference }) {
  const { source, position, student_position: student, relation } = reference;
  const { retrieval } = decision;
  const sign = referenceSign(retrieval, reference);
  const left = decisionsLeft(retrieval, reference);
  const { anchor } = retrieval.explanation;
  const anchored = relation === "historical" && anchor?.studentPosition === student && left !== null;
  return (
    <>
      <p className="retained-name">
        {sign !== "" && <span aria-hidden="true">{sign}</span>}
        <button
          type="button"
          className="plain link"
          title="Pin this visit"
          onClick={() => navigate({ visit: { source, position: position ?? 0 } })}
        >
          <Name>{shownName(source, 80)}</Name>
        </button>
        <span>{position === null ? "whole record" : `from visit ${withEvent(position)}`}</span>
        <SourceButton source={source} />
      </p>
      <p>
        {whereItJoins(reference)}
        {left !== null && ` ${countOf(left, "decision")} to its success.`}
        {anchored && ` It is the first of ${countOf(anchor.candidates.length, "eligible visit")} there.`}
        {relation === "historical" && student !== null && (
          <>
            {" "}
            <button type="button" className="plain link" onClick={() => goToDecision(student)}>
              Go to decision {student}
            </button>
          </>
        )}
      </p>
    </>
  );
}
