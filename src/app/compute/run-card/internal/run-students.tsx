/** The students that a run has, each with a button that makes it the page's. */
import { useState } from "react";
import { bestEvaluated } from "../../../../core/evaluation/index.ts";
import { faultNotice } from "../../../base/faults.ts";
import { shownName } from "../../../base/text/shown-text.ts";
import { isModelAtWork } from "../../computing.ts";
import { gigabytes } from "../../hub/hub.ts";
import { openStudentOf, type RunStudent, studentsOf } from "../../models/internal/open-student.ts";
import type { Run } from "../../runs/run.ts";
import { setUi, useUi } from "../../store.ts";
import { spreadText } from "../figures.ts";

export function RunStudents({ run }: { run: Run }) {
  const [students, setStudents] = useState<RunStudent[] | null>(null);
  const loading = useUi((ui) => ui.modelLoading.student !== undefined);
  const busy = useUi(isModelAtWork) || loading;
  const { evaluations } = run.figures;
  const best = bestEvaluated(evaluations);
  const read = (): void => {
    studentsOf(run).then(setStudents, (error) => setUi({ notice: faultNotice(error) }));
  };
  const achieved = ({ step }: RunStudent): string => {
    const evaluation = evaluations.find((each) => each.step === step);
    return evaluation === undefined ? "" : `success rate ${spreadText(evaluation.sr)} %; `;
  };
  return (
    <details onToggle={(event) => event.currentTarget.open && read()} data-testid="run-students">
      <summary>Students</summary>
      {students?.length === 0 && (
        <p className="note">None is kept yet: the first checkpoint is the first one.</p>
      )}
      <ul className="run-files">
        {students?.map((student) => (
          <li key={`${student.folder} ${student.step}`}>
            {student.elsewhere === null && (
              <button
                type="button"
                disabled={busy}
                onClick={() => void openStudentOf(run, student)}
                aria-label={`Open this student, ${student.label}`}
              >
                Open this student
              </button>
            )}{" "}
            {student.label}
            {best !== null && student.step === best.step && <strong> best</strong>}{" "}
            <span className="note">
              {achieved(student)}
              {student.elsewhere === null
                ? `${gigabytes(student.bytes)} with its optimizer state, where it has one`
                : shownName(student.elsewhere, 1000)}
            </span>
          </li>
        ))}
      </ul>
    </details>
  );
}
