/** Steps on the student: vanilla first, then with evidence, and what they do to it. */
import { formatRange, trainingRemaining } from "../../session/eta.ts";
import { type TrainingState, useUi } from "../../state/store.ts";
import { NeedsTask } from "../needs-task.tsx";
import { StepBar } from "../task/step-bar.tsx";
import { engineFacts, Provenance } from "../tokens/provenance.tsx";
import { Curves } from "./curves.tsx";
import { StudentPanel } from "./student-panel.tsx";
import { TrainingFormPanel } from "./training-form.tsx";
import { WatchedTokens } from "./watched-tokens.tsx";

export function TrainingView() {
  const task = useUi((ui) => ui.task);
  const training = useUi((ui) => ui.training);
  const student = useUi((ui) => ui.models.student);
  const teacher = useUi((ui) => ui.models.teacher);
  if (task === null) return <NeedsTask />;
  return (
    <div className="training-view">
      <StepBar task={task} />
      <section className="panel" aria-labelledby="training-title">
        <div className="panel-head">
          <h2 id="training-title">Update the student</h2>
          <StudentPanel />
        </div>
        <TrainingFormPanel />
        <Running training={training} />
      </section>
      {training.watch && (
        <section className="panel watched-panel" aria-labelledby="watched-title">
          <h2 id="watched-title">The student’s tokens</h2>
          <WatchedTokens watch={training.watch} />
        </section>
      )}
      {training.points.length > 0 ? (
        <Curves points={training.points} />
      ) : (
        training.status === "idle" && (
          <p className="note hint">
            Each step: the frozen teacher scores the student’s recorded responses, without evidence in the
            vanilla stage and with Rₜ in the second; the student moves towards it by the clipped surrogate.
            Nothing is written anywhere until you save.
          </p>
        )
      )}
      {student && teacher && (
        <Provenance
          facts={[
            ...engineFacts(student.info),
            ["teacher", `${teacher.info.model}, ${teacher.info.parameters.toLocaleString("en")} parameters`],
            ["optimizer steps", String(student.steps)],
          ]}
        />
      )}
    </div>
  );
}

function Running({ training }: { training: TrainingState }) {
  const { status, work, done, total, message, points, stageSteps } = training;
  if (status === "idle") {
    return message === null ? null : (
      <p
        className={`run-line ${message.kind}`}
        role={message.kind === "error" ? "alert" : "status"}
        data-testid="run-message"
      >
        {message.text}
      </p>
    );
  }
  const eta = trainingRemaining(stageSteps, points);
  return (
    <div className="run-line" role="status" data-testid="running">
      <span>
        {total > 0 && `Step ${Math.min(done + 1, total)} of ${total} · `}
        {work?.label ?? "Starting"}
        {work &&
          work.total > 0 &&
          ` · ${work.done.toLocaleString("en")} of ${work.total.toLocaleString("en")} tokens`}
        {total > 0 &&
          (eta === null ? " · time left is known after the first step" : ` · ${formatRange(eta)} left`)}
        {status === "stopping" && " · stopping after this step"}
      </span>
      <progress
        max={total || 1}
        value={
          total === 0 ? undefined : done + (work && work.total > 0 ? (0.98 * work.done) / work.total : 0)
        }
        aria-label="Training"
      />
    </div>
  );
}
