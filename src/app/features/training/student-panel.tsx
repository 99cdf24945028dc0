/** Which student is open, where it goes, and the way back. */
import { useState } from "react";
import { shownName } from "../../base/text/shown-text.ts";
import { isModelAtWork } from "../../compute/computing.ts";
import { useKept } from "../../compute/models/kept-student.ts";
import { ModelPickers } from "../../compute/models/model-pickers.tsx";
import { models, useStudentRun } from "../../compute/models/models.ts";
import { useUi } from "../../compute/store.ts";
import { canSaveFolder, downloadStudent, saveStudentFolder } from "./save-student.ts";

export function StudentPanel() {
  const student = useUi((ui) => ui.models.student);
  const busy = useUi((ui) => ui.training.status !== "idle" || ui.scoring.status === "running");
  const atWork = useUi(isModelAtWork);
  const trained = useStudentRun((run) => run.id !== null);
  const [optimizer, setOptimizer] = useState(false);
  return (
    <div className="student-panel">
      <ModelPickers />
      <span className="student-save">
        <label>
          <input
            type="checkbox"
            checked={optimizer}
            onChange={(event) => setOptimizer(event.target.checked)}
          />{" "}
          with optimizer state
        </label>
        <button
          type="button"
          disabled={(student === null && !trained) || busy}
          onClick={() => void downloadStudent({ optimizer })}
        >
          Save as .zip
        </button>
        {canSaveFolder() && (
          <button
            type="button"
            disabled={(student === null && !trained) || busy}
            onClick={() => void saveStudentFolder({ optimizer })}
          >
            Save to a folder…
          </button>
        )}
        <button
          type="button"
          disabled={(student?.origin !== "updated" && !trained) || atWork}
          onClick={() => void models.revertStudent()}
        >
          Revert to the loaded student
        </button>
      </span>
    </div>
  );
}

/** What must be seen also while the rail is folded. */
export function StudentNotes() {
  const problem = useKept((kept) => kept.problem);
  const fit = useUi((ui) => ui.tokenizerFit.training);
  return (
    <>
      {fit !== null && (
        <p className="fault panel-note" role="status" data-testid="model-problem">
          No run here until the teacher reads the student’s tokens: {fit}.
        </p>
      )}
      {problem !== null && (
        <p className="fault panel-note" role="alert" data-testid="unkept">
          The trained student is not kept in this browser ({shownName(problem, 500)}): it is lost with this
          tab unless you save it.
        </p>
      )}
    </>
  );
}
