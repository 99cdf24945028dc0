/** Whether the student is measured while it is trained, how often, and on which games. */
import type { ReactNode } from "react";
import { Labelled } from "../../base/labelled.tsx";
import {
  chooseEvaluation,
  evaluationFiles,
  measuresElsewhere,
  responsesOf,
  setText,
  useTrainingForm,
} from "../../compute/training/training-form.ts";
import { EnvironmentSelect } from "./environment-select.tsx";
import { madeKeys } from "./responses-fields.tsx";

const AT = "evaluate.environment";

export function EvaluationFields({
  field,
  disabled,
}: {
  field: (key: string) => ReactNode;
  disabled: boolean;
}) {
  const form = useTrainingForm();
  const { where, texts } = form;
  const isOn = texts.evaluate === "true";
  const name = texts[`${AT}.name`] ?? "";
  const files = evaluationFiles(form);
  return (
    <fieldset className="form-row">
      <legend>Evaluation</legend>
      <Labelled label="Evaluate the student">
        <input
          type="checkbox"
          checked={isOn}
          disabled={disabled}
          onChange={({ target }) => chooseEvaluation(target.checked)}
        />
      </Labelled>
      {isOn && ["every", "seeds", "tasks", "at_once"].map((key) => field(`evaluate.${key}`))}
      {isOn && responsesOf(form) === "live" && field(AT)}
      {isOn && measuresElsewhere(form) && (
        <>
          <EnvironmentSelect at={AT} label="Evaluate in" disabled={disabled} />
          {where !== "page" && name !== "scienceworld" && (
            <Labelled label="Evaluate on">
              <select
                value={files ? "files" : "made"}
                disabled={disabled}
                onChange={({ target }) => setText(`${AT}.made`, target.value === "files" ? "false" : "")}
              >
                <option value="made">made games</option>
                <option value="files">files on the worker’s disk</option>
              </select>
            </Labelled>
          )}
          {files
            ? field(`${AT}.${name === "scienceworld" ? "simulator" : "games"}`)
            : madeKeys(AT, texts).map(field)}
          {["max_decisions", "max_tokens"].map((key) => field(`${AT}.${key}`))}
          {where !== "page" && field(`${AT}.prompt`)}
        </>
      )}
      {isOn && (
        <p className="note">
          Each task is played once per seed: before the first step, at the interval above, and after the last
          step. The training’s numbers do not change.
        </p>
      )}
    </fieldset>
  );
}
