/** Steps on the student: the run as it goes, and the form that starts one. */

import { useEffect, useRef } from "react";
import { formatRange } from "../../base/eta.ts";
import { WithRail } from "../../base/rail.tsx";
import { shownName } from "../../base/text/shown-text.ts";
import { isFocusFree } from "../../base/use-focus-back.ts";
import { useMemoryFacts } from "../../compute/models/memory-note.tsx";
import { engineFacts, Provenance } from "../../compute/models/provenance.tsx";
import { takenBackText, useTakenBack } from "../../compute/models/taken-back.ts";
import { NeedsEpisode, NeedsTask } from "../../compute/open/needs-task.tsx";
import { StepBar } from "../../compute/open/step-bar.tsx";
import { ChartOptions, RunCharts } from "../../compute/run-card/run-charts.tsx";
import { RunDetail } from "../../compute/run-card/run-detail.tsx";
import { timeLeft } from "../../compute/runs/run-time.ts";
import { ownFigures, useRuns } from "../../compute/runs/runs-store.ts";
import { type TrainingState, useUi } from "../../compute/store.ts";
import { studentTraining } from "../../compute/training/training.ts";
import { responsesOf, useTrainingForm } from "../../compute/training/training-form.ts";
import { libraryNames } from "../../data/open-libraries.ts";
import { setFormOpen, useFormFold } from "./form-fold.ts";
import { StudentNotes, StudentPanel } from "./student-panel.tsx";
import { FormLine, TrainingFormPanel } from "./training-form.tsx";
import { WatchedTokens } from "./watched-tokens.tsx";

export function TrainingView() {
  const task = useUi((ui) => ui.task);
  const training = useUi((ui) => ui.training);
  const student = useUi((ui) => ui.models.student);
  const teacher = useUi((ui) => ui.models.teacher);
  const memoryFacts = useMemoryFacts("train");
  const latest = useRuns((state) => (state.latest === null ? null : (state.runs[state.latest] ?? null)));
  const takenBack = useTakenBack();
  const live = useTrainingForm((form) => responsesOf(form) === "live");
  const gone = training.status === "idle" ? (takenBack[training.run ?? ""] ?? null) : null;
  const isOpen = useFormFold((fold) => fold.open) || latest === null;
  const wasOpen = useRef(isOpen);
  useEffect(() => {
    // The button that started the run is gone with its form: on with the run, whose buttons come next.
    if (wasOpen.current && !isOpen && isFocusFree()) document.getElementById("run-title")?.focus();
    wasOpen.current = isOpen;
  }, [isOpen]);
  // What the page says of its own run stands in the run's card; before the run has one, at the form.
  const hasCard = latest !== null && training.run === latest.id;
  const running =
    gone === null ? (
      <Running training={training} />
    ) : (
      <p className="run-line" role="status" data-testid="taken-back">
        The run’s steps were {takenBackText(gone)}. Its curves stay among the runs.
      </p>
    );
  return (
    <div className="training-view">
      {task !== null ? <StepBar task={task} /> : !live && <NeedsTask />}
      {task?.episodes.length === 0 && !live && <NeedsEpisode />}
      {/* The form is too wide for the rail; it folds into a line of its own once there is a run. */}
      <WithRail
        view="training"
        controls={
          <>
            <h3>Models</h3>
            <StudentPanel />
            {latest !== null && <ChartOptions runs={[latest]} />}
          </>
        }
      >
        {latest !== null && (
          <RunDetail
            key={latest.id}
            run={latest}
            progress={hasCard ? running : null}
            told={hasCard && gone === null ? (training.message?.text ?? null) : null}
          >
            <RunCharts runs={[latest]} takenBack={takenBack[latest.id] ?? null} />
            {hasCard && training.watch && (
              <section className="watched-panel" aria-labelledby="watched-title">
                <h3 id="watched-title">The student’s tokens</h3>
                <WatchedTokens watch={training.watch} takenBack={gone} />
              </section>
            )}
          </RunDetail>
        )}
        <section className="panel" aria-labelledby="training-title">
          <div className="panel-head">
            <h2 id="training-title">Update the student</h2>
          </div>
          <StudentNotes />
          {latest !== null && <FormToggle isOpen={isOpen} />}
          {isOpen && <TrainingFormPanel />}
          {!hasCard && running}
        </section>
        {latest === null && training.status === "idle" && (
          <p className="note hint">
            Each step: the frozen teacher scores the student’s {live ? "fresh" : "recorded"} responses,
            without evidence in the vanilla stage and with Rₜ in the second; the student moves towards it by
            the clipped surrogate. In the page nothing is written to your disk until you save; runs and their
            last checkpoint are kept in this browser, so that they can go on and a reload loses no student.
          </p>
        )}
        {student && teacher && (
          <Provenance
            facts={[
              ...engineFacts(student.info),
              [
                "teacher",
                `${shownName(teacher.info.model)}, ${teacher.info.parameters?.toLocaleString("en") ?? "unknown"} parameters`,
              ],
              ["optimizer steps", String(student.steps)],
              ...memoryFacts,
            ]}
          />
        )}
      </WithRail>
    </div>
  );
}

/** The form in one line: what it would start, and the way back to it. */
function FormToggle({ isOpen }: { isOpen: boolean }) {
  return (
    <p className="form-fold">
      <button
        type="button"
        aria-expanded={isOpen}
        onClick={() => setFormOpen(!isOpen)}
        data-testid="form-fold"
      >
        {isOpen ? "Fold the form" : "Set up another run"}
      </button>
      {!isOpen && <FormLine />}
    </p>
  );
}

/** The student is there, and the browser still writes it. */
function Keeping({ training: { work, message } }: { training: TrainingState }) {
  const { done, total, unit } = work ?? { done: 0, total: 0, unit: "" };
  return (
    <div className="run-line" role="status" data-testid="keeping">
      <span>
        {message !== null && shownName(message.text, 2000)}
        {total > 0 && ` · ${done.toLocaleString("en")} of ${total.toLocaleString("en")} ${unit}`}
      </span>
      <progress
        max={total || 1}
        value={total === 0 ? undefined : done}
        aria-label="Keeping the trained student"
      />
    </div>
  );
}

function Running({ training }: { training: TrainingState }) {
  const libraries = useUi((ui) => ui.libraries);
  // Said where it may be another one than the shown.
  const name = libraries.length > 1 ? libraryNames(libraries).get(training.library ?? "") : undefined;
  const { status, work, message, method } = training;
  const figures = useRuns(({ runs }) => ownFigures(training, runs));
  const { done, total } = figures;
  if (status === "idle") {
    return message === null ? null : (
      <p
        className={`run-line ${message.kind}`}
        role={message.kind === "error" ? "alert" : "status"}
        data-testid="run-message"
      >
        {shownName(message.text, 2000)}
      </p>
    );
  }
  if (status === "keeping") return <Keeping training={training} />;
  const eta = timeLeft(figures);
  return (
    <div className="run-line" role="status" data-testid="running">
      <span>
        {total > 0 && `Step ${Math.min(done + 1, total)} of ${total} · `}
        {work === null ? "Starting" : shownName(work.label)}
        {work &&
          work.total > 0 &&
          ` · ${work.done.toLocaleString("en")} of ${work.total.toLocaleString("en")} ${work.unit}`}
        {total > 0 &&
          (eta === null ? " · time left is known after the first step" : ` · ${formatRange(eta)} left`)}
        {status === "stopping" && " · stopping after this step"}
        {method !== "" && ` · method: ${method}`}
        {name !== undefined && ` · library: ${name}`}
      </span>
      <progress
        max={total || 1}
        value={
          total === 0 ? undefined : done + (work && work.total > 0 ? (0.98 * work.done) / work.total : 0)
        }
        aria-label="Training"
      />
      {training.run === null && status !== "probing" && (
        <span>
          <button
            type="button"
            disabled={status === "cancelling" || status === "probe-cancelling"}
            onClick={() => void studentTraining.stop()}
          >
            {status === "running" ? "Stop" : status === "stopping" ? "Stop at once" : "Ending…"}
          </button>
        </span>
      )}
    </div>
  );
}
