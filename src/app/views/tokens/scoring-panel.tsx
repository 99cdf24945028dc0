/** The score button, and how far the scoring is. */
import { formatRange } from "../../session/eta.ts";
import { cancelScoring, scoreDecision, scoreKey } from "../../session/score.ts";
import { useUi } from "../../state/store.ts";

export function ScoringPanel({ scored }: { scored: boolean }) {
  const scoring = useUi((ui) => ui.scoring);
  const training = useUi((ui) => ui.training.status);
  const decision = useUi((ui) => ui.decision);
  const loading = useUi((ui) => ui.modelLoading);
  if (scoring.status === "running") {
    const opening = loading.teacher ?? loading.student;
    const done = opening?.done ?? scoring.done;
    const total = opening?.total ?? scoring.total;
    return (
      <div className="scoring" role="status" data-testid="scoring">
        <span>
          {opening?.label ?? scoring.label}
          {total > 0 &&
            ` · ${done.toLocaleString("en")} of ${total.toLocaleString("en")} ${opening?.unit ?? "tokens"}`}
          {opening === undefined &&
            (scoring.eta === null
              ? " · time left is known after the first pass"
              : ` · ${formatRange(scoring.eta)} left`)}
        </span>
        <progress max={total || 1} value={total === 0 ? undefined : done} aria-label="Scoring" />
        <button type="button" onClick={() => void cancelScoring()}>
          Cancel <span className="key">Esc</span>
        </button>
      </div>
    );
  }
  if (scoring.status === "cancelling") {
    return (
      <div className="scoring" role="status">
        Cancel requested; waiting for the device…
      </div>
    );
  }
  const failed = scoring.status === "failed" && decision !== null && scoring.key === scoreKey(decision);
  return (
    <div className="scoring">
      <button
        type="button"
        className="primary"
        disabled={decision === null || training !== "idle"}
        onClick={() => void scoreDecision()}
      >
        {scored ? "Score again" : "Score"} <span className="key">s</span>
      </button>
      {failed && (
        <p className="fault" role="alert">
          {scoring.message}
        </p>
      )}
      {training !== "idle" && <p className="note">The device is busy with training.</p>}
    </div>
  );
}
