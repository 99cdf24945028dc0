/** The score button, and how far the scoring is: in places that are there before, so that nothing below moves. */
import { formatRange } from "../../base/eta.ts";
import { isDeviceBusy, isTraining } from "../../compute/computing.ts";
import { scoreDecision, scoreKey, scoringRuns } from "../../compute/scoring/score.ts";
import { type ScoringJob, useUi } from "../../compute/store.ts";
import { scoredName } from "../../data/score-key.ts";

const TEST_IDS: Record<ScoringJob, string> = {
  contexts: "scoring",
  "left-out": "leaving-out",
  side: "scoring-side",
  distribution: "scoring-distribution",
  changes: "scoring-changes",
  actions: "asking-teacher",
  references: "scoring-references",
  gate: "scoring-gate",
  "gate-sweep": "scoring-gate-sweep",
};

/**
 * How far a running job is, with the button that ends it; null while none of that kind runs. `of` names what is scored
 * where that is not what the view shows.
 */
export function ScoringProgress({ job, of = null }: { job: ScoringJob; of?: string | null }) {
  const scoring = useUi((ui) => ui.scoring);
  const loading = useUi((ui) => ui.modelLoading);
  if (scoring.status === "running" && scoring.job === job) {
    const opening = loading.teacher ?? loading.student;
    const done = opening?.done ?? scoring.done;
    const total = opening?.total ?? scoring.total;
    const amount =
      total > 0
        ? ` · ${done.toLocaleString("en")} of ${total.toLocaleString("en")} ${opening?.unit ?? scoring.unit}`
        : "";
    const left =
      opening !== undefined
        ? ""
        : scoring.eta === null
          ? " · time left is known after the first pass"
          : ` · ${formatRange(scoring.eta)} left`;
    const text = `${opening?.label ?? scoring.label}${of === null ? "" : ` · ${of}`}${amount}${left}`;
    return (
      <div className="scoring" role="status" data-testid={TEST_IDS[job]}>
        <span title={text}>{text}</span>
        <progress max={total || 1} value={total === 0 ? undefined : done} aria-label="Scoring" />
        <button type="button" onClick={() => void scoringRuns.cancel()}>
          Cancel <span className="key">Esc</span>
        </button>
      </div>
    );
  }
  if (scoring.status === "cancelling" && scoring.job === job) {
    return (
      <div className="scoring" role="status" data-testid={job === "contexts" ? "scoring" : "leaving-out"}>
        <span>Cancel requested; waiting for the device…</span>
      </div>
    );
  }
  return null;
}

/** The progress of scoring that has no place of its own in the view. */
export function DecisionProgress() {
  const scoring = useUi((ui) => ui.scoring);
  const decision = useUi((ui) => ui.decision);
  if (scoring.status !== "running" && scoring.status !== "cancelling") return null;
  // Parts that are left out of this decision's evidence have their progress beside them.
  const elsewhere = scoring.job !== "changes" && (decision === null || scoring.key !== scoreKey(decision));
  if (scoring.job !== "contexts" && !elsewhere) return null;
  return <ScoringProgress job={scoring.job} of={elsewhere ? scoredName(scoring.key) : null} />;
}

export function ScoringPanel({ scored }: { scored: boolean }) {
  const scoring = useUi((ui) => ui.scoring);
  const computing = useUi(isDeviceBusy);
  const training = useUi((ui) => isTraining(ui.training));
  const decision = useUi((ui) => ui.decision);
  const failed =
    scoring.status === "failed" &&
    scoring.job === "contexts" &&
    decision !== null &&
    scoring.key === scoreKey(decision);
  if (scored && !failed) return null;
  return (
    <div className="scoring">
      {!scored && (
        <button
          type="button"
          className="primary score-first"
          disabled={decision === null || !decision.prompted || computing}
          onClick={() => void scoreDecision()}
        >
          Score <span className="key">s</span>
        </button>
      )}
      {decision?.prompted === false && (
        <p className="note">This decision was recorded without its prompt: no teacher can score it.</p>
      )}
      {failed && (
        <p className="fault" role="alert">
          {scoring.message}
        </p>
      )}
      {training && <p className="note">The device is busy with training.</p>}
    </div>
  );
}
