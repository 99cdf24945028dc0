/** Which decisions the student is measured on before and after a run, and how often in between. */

import { Labelled } from "../../base/labelled.tsx";
import { Name } from "../../base/text/name.tsx";
import { shownName } from "../../base/text/shown-text.ts";
import { configField } from "../../compute/runs/config-fields.ts";
import { useUi } from "../../compute/store.ts";
import { useTrainingForm } from "../../compute/training/training-form.ts";
import { holdOut, isHeldOut, letGo, useHeldOut } from "../../compute/training/training-held-out.ts";

export function HeldOutFields({ disabled, problem }: { disabled: boolean; problem: string | undefined }) {
  const { decisions, every } = useHeldOut();
  const library = useUi((ui) => ui.library?.id);
  const there = useTrainingForm().where !== "page";
  const decision = useUi((ui) => ui.decision);
  return (
    <fieldset className="form-row" data-testid="held-out-fields">
      <legend>Before and after</legend>
      <button
        type="button"
        disabled={disabled || decision === null || isHeldOut(decision)}
        onClick={() => decision !== null && holdOut(decision)}
      >
        Watch the open decision
      </button>
      {decisions.length > 0 && (
        <Labelled label="Steps between measurements" problem={problem}>
          <input
            type="text"
            className="number"
            inputMode="numeric"
            value={every}
            placeholder={configField("watch.every").standard}
            disabled={disabled}
            onChange={({ target }) => useHeldOut.setState({ every: target.value })}
          />
        </Labelled>
      )}
      {decisions.length > 0 && (
        <ul className="held-out-list" aria-label="Watched decisions">
          {decisions.map((each) => (
            <li key={`${each.library} ${each.environment} ${each.task} ${each.episode} ${each.decision}`}>
              <Name>{shownName(each.episode, 80)}</Name>, decision {each.decision}:{" "}
              <code>{shownName(each.action ?? "no action", 120)}</code>
              {there && each.library !== library && (
                <span className="note"> of another library: the worker’s run leaves it out </span>
              )}
              <button
                type="button"
                className="plain"
                disabled={disabled}
                onClick={() => letGo(each)}
                aria-label={`Stop watching ${shownName(each.episode, 80)}, decision ${each.decision}`}
              >
                ×
              </button>
            </li>
          ))}
        </ul>
      )}
      <p className="note">
        Measures the student’s probability of each decision’s action before the first step, every few steps
        and after the last. Watching does not train: choose decisions that the run does not train on.
      </p>
    </fieldset>
  );
}
