/** The start and stop of students, and what they are trained with: methods, seeds, budget, measurement. */
import { METHOD_IDS, methodLabel } from "../../../../core/method/index.ts";
import { formatRange } from "../../../base/eta.ts";
import { trueMinus } from "../../../base/format.ts";
import { isModelAtWork } from "../../../compute/computing.ts";
import { useUi } from "../../../compute/store.ts";
import { STUDENT_CHOICES, type StudentChoices } from "../../../compute/students/students-config.ts";
import { useStudents } from "../../../compute/students/students-store.ts";
import { type Study, secondsLeft } from "../../../compute/students/study.ts";
import { studentComparison } from "./run-students.ts";

type NumberKey = keyof typeof STUDENT_CHOICES;

const FIELDS: { key: NumberKey; label: string; text?: (value: number) => string }[] = [
  { key: "seeds", label: "Training seeds" },
  { key: "steps", label: "Steps" },
  { key: "batch", label: "Episodes per step" },
  { key: "every", label: "Measured every", text: (n) => (n === 1 ? "step" : `${n} steps`) },
  { key: "unseen", label: "Unseen tasks" },
  { key: "temperature", label: "Played", text: (t) => (t === 0 ? "greedily" : `at T = ${t}`) },
  { key: "learningRate", label: "Learning rate", text: (rate) => trueMinus(rate.toExponential(0)) },
  {
    key: "maxGradNorm",
    label: "Max gradient norm",
    text: (norm) => (norm === 1 ? "1 (the paper)" : String(norm)),
  },
];

const SIGNALS = { "full-vocabulary": "full vocabulary", "sampled-token": "sampled token (the paper)" };

function choose(change: Partial<StudentChoices>): void {
  useStudents.setState(({ choices }) => ({ choices: { ...choices, ...change } }));
}

export function StudentsStart({ study }: { study: Study | null }) {
  const busy = useUi(isModelAtWork);
  const studying = useUi((ui) => ui.studying);
  const begun = study?.cells.some(({ state, done }) => state !== "waiting" || done > 0) ?? false;
  const finished = study?.cells.every(({ state }) => state === "done") ?? false;
  const left = studying === null || study === null ? null : secondsLeft(study);
  return (
    <div className="gate-controls">
      {studying !== null ? (
        <button type="button" disabled={studying.stopping} onClick={() => void studentComparison.stop()}>
          Stop training
        </button>
      ) : (
        <button
          type="button"
          className="primary"
          disabled={busy || finished}
          onClick={() => void studentComparison.train()}
        >
          {finished ? "All trained" : begun ? "Continue training" : "Train students"}
        </button>
      )}
      <span className="gate-progress" data-testid="students-progress">
        {studying !== null && (studying.stopping ? "Stopping…" : studying.label)}
        {left !== null && !studying?.stopping && `; ${formatRange(left)} left of all`}
      </span>
    </div>
  );
}

export function StudentsSettings() {
  const choices = useStudents((state) => state.choices);
  const studying = useUi((ui) => ui.studying !== null);
  const toggle = (id: (typeof METHOD_IDS)[number]): void => {
    const methods = METHOD_IDS.filter((each) => choices.methods.includes(each) !== (each === id));
    if (methods.length > 0) choose({ methods });
  };
  return (
    <>
      <h3>Students</h3>
      <details className="gate-contexts">
        <summary>
          {choices.methods.length} of {METHOD_IDS.length} methods
        </summary>
        <fieldset disabled={studying}>
          <legend className="hidden-visually">Methods</legend>
          {METHOD_IDS.map((id) => (
            <label key={id}>
              <input type="checkbox" checked={choices.methods.includes(id)} onChange={() => toggle(id)} />{" "}
              {methodLabel(id)}
            </label>
          ))}
        </fieldset>
      </details>
      {FIELDS.map(({ key, label, text = String }) => (
        <label key={key}>
          {label}{" "}
          <select
            value={choices[key]}
            disabled={studying}
            onChange={({ target }) => choose({ [key]: Number(target.value) })}
          >
            {STUDENT_CHOICES[key].map((value) => (
              <option key={value} value={value}>
                {text(value)}
              </option>
            ))}
          </select>
        </label>
      ))}
      <label>
        Signal{" "}
        <select
          value={choices.signal}
          disabled={studying}
          onChange={({ target }) => choose({ signal: target.value as StudentChoices["signal"] })}
        >
          {Object.entries(SIGNALS).map(([value, text]) => (
            <option key={value} value={value}>
              {text}
            </option>
          ))}
        </select>
      </label>
      <label>
        Vanilla first{" "}
        <select
          value={String(choices.vanillaFirst)}
          disabled={studying}
          onChange={({ target }) => choose({ vanillaFirst: target.value === "true" })}
        >
          <option value="true">half of the steps</option>
          <option value="false">no steps</option>
        </select>
      </label>
    </>
  );
}
