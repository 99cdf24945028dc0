/** Which decisions the student is looked at before and after a run, and how often in between. */

import { Labelled } from "../../base/labelled.tsx";
import { shownName } from "../../base/text/shown-text.ts";
import { useUi } from "../../compute/store.ts";
import {
  HELD_OUT_EVERY,
  heldOutEvery,
  holdOut,
  isHeldOut,
  letGo,
  useHeldOut,
} from "../../compute/training/training-held-out.ts";

export function HeldOutFields({ disabled }: { disabled: boolean }) {
  const { decisions, every } = useHeldOut();
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
        <Labelled
          label="Steps between looks"
          problem={heldOutEvery(every) === null ? "expected a whole number from 1" : undefined}
        >
          <input
            type="text"
            className="number"
            inputMode="numeric"
            value={every}
            placeholder={String(HELD_OUT_EVERY)}
            disabled={disabled}
            onChange={({ target }) => useHeldOut.setState({ every: target.value })}
          />
        </Labelled>
      )}
      {decisions.length > 0 && (
        <ul className="held-out-list" aria-label="Watched decisions">
          {decisions.map((each) => (
            <li key={`${each.library} ${each.environment} ${each.task} ${each.episode} ${each.decision}`}>
              <bdi>{shownName(each.episode, 80)}</bdi>, decision {each.decision}:{" "}
              <code>{shownName(each.action ?? "no action", 120)}</code>
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
        How likely the student finds the action of each, before the first step, every few steps and after the
        last. They are only read: choose decisions that the run does not train on.
      </p>
    </fieldset>
  );
}
